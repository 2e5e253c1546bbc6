package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/learners"
)

// streamFlags returns the flags of examples that are seen once.
func streamFlags(o *Options) []cli.Flag {
	return []cli.Flag{
		app.Switch(&o.Stream, "stream",
			"see each example once and keep none: online learners, CSV or LIBSVM"),
		&cli.StringFlag{Name: "classes", DefaultText: "those read first", Destination: &o.Classes,
			Usage: "comma `LIST` of all classes of a stream"},
		app.Count(&o.Features, "features", 0, 1, math.MaxInt,
			"number `D` of features of a LIBSVM stream").Unless("the number in those read first"),
	}
}

// checkStream checks the flags of a stream, and refuses what takes more than one look at the
// examples.
func (o *Options) checkStream() error {
	refused, why := []string{"classes", "features"}, "without --stream"
	if o.Stream {
		refused = append([]string{"labels", "annotators", "validate", "temperature-folds", "checkpoint",
			"resume", "kernel", "dry-run", "time"}, training.EvidenceNames...)
		why = "with --stream, which sees each example once and keeps none"
	}
	for _, flag := range refused {
		if o.Given(flag) {
			return app.Usage("--%s is given %s", flag, why)
		}
	}
	if !o.Stream {
		return nil
	}
	t := &o.Train
	if about := t.Learner.Definition(); about.Stream == nil {
		return app.Usage("--stream is given with learner %s, which needs all examples at once; take an "+
			"online learner, such as --learner pa1", about.Name)
	}
	if t.MaxSteps > 1 || t.MaxSteps < 0 || t.Weights != "" && t.Weights != learners.Last {
		return app.Usage("--max-steps and --weights are given with --stream, which is one pass and " +
			"keeps its last weights")
	}
	if inOrder, ok := learners.Lookup(t.Learner, "no_shuffle"); ok {
		if err := inOrder.Set("true"); err != nil {
			return err
		}
	}
	o.Read.Features = o.Features
	if o.Classes != "" {
		o.Read.Classes = strings.Split(o.Classes, ",")
	}
	return nil
}

// openStream begins to read, for a training that begins with a model so that they match.
func openStream(ctx context.Context, o *Options) (*file.Stream, error) {
	r := o.Read
	if base := o.Train.From; base != nil {
		o.Data.AsModel(&r, base.Meta.Features)
		r.Classes = base.Meta.Classes
		if o.Match.Match == "name" && len(base.Meta.Features.Names) > 0 {
			r.FeatureNames = base.Meta.Features.Names
		}
		if base.Meta.Preparation.Fills() {
			r.Storage = "dense"
		}
	}
	files, err := app.DataFiles(o.Data.Path)
	if err != nil {
		return nil, err
	}
	return file.OpenStream(ctx, o.Data.Path, files, r)
}

// stream is Run for examples that are seen once.
func (o *Options) stream(ctx context.Context) (err error) {
	s, err := openStream(ctx, o)
	if err != nil {
		if ctx.Err() != nil {
			return app.Interrupted(ctx)
		}
		return err
	}
	defer s.Close()
	first := s.First
	o.Notes.Say("data: %s, a stream of examples × %d features%s", o.Data.Path, first.D,
		app.ClassesOf(first))
	for _, note := range first.Notes {
		o.Notes.Say("data: %s", note)
	}
	for _, warning := range first.Warnings {
		o.Notes.Warn("%s", warning)
	}
	noise, err := o.ReadNoise(ctx, first.Classes)
	if err != nil {
		return err
	}
	o.mark(&o.seconds.Read)
	if o.Train.Engine, err = o.Device.Open(o.Notes, device.Work{}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.closeEngine()) }()
	o.mark(&o.seconds.Open)
	o.watch(first.Classes)
	trained, err := host.TrainStream(ctx, s, noise, o.Train)
	if err != nil {
		return fmt.Errorf("%s: %w", o.Data.Path, err)
	}
	if err := trained.Save(o.Model); err != nil {
		return err
	}
	r := o.report(trained)
	r.Stream = true
	if err := o.print(r); err != nil {
		return err
	}
	if trained.Run.Stop == host.Interrupted {
		return fmt.Errorf("%w after %d examples; %s holds the weights of these, and --from %s goes on "+
			"with the next ones", app.ErrInterrupted, r.Examples, o.Model, o.Model)
	}
	return nil
}
