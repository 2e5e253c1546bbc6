package training

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/learners"
)

// streamFlags say that examples are seen once, and what cannot be known before the last.
func streamFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "stream",
			Usage: "see each example once and keep none: online learners, CSV or LIBSVM"},
		&cli.StringFlag{Name: "classes", DefaultText: "those read first",
			Usage: "comma `LIST` of all classes of a stream"},
		&cli.IntFlag{Name: "features", DefaultText: "as many as those read first",
			Usage: "number `D` of features of a LIBSVM stream"},
	}
}

// streamed takes over the flags of a stream, and refuses those of what takes more than one look
// at the examples.
func (t *Training) streamed(c *cli.Context) error {
	if !c.Bool("stream") {
		for _, name := range []string{"classes", "features"} {
			if c.IsSet(name) && app.Visible(c, name) && app.Visible(c, "stream") {
				return app.Usagef(c, "--%s is given without --stream", name)
			}
		}
		return nil
	}
	for _, name := range []string{
		"labels", "annotators", "validate", "temperature-folds", "checkpoint", "resume", "kernel",
		"dry-run",
	} {
		if c.IsSet(name) {
			return app.Usagef(c, "--%s is given with --stream, which sees each example once and keeps none",
				name)
		}
	}
	about := t.Learner.Definition()
	if _, ok := t.Learner.(learners.Streamer); !ok {
		return app.Usagef(c, "--stream is given with learner %s, which needs all examples at once; take "+
			"an online learner, such as --learner pa1", about.Name)
	}
	if t.MaxSteps > 1 || t.MaxSteps < 0 || t.Weights != "" && t.Weights != learners.Last {
		return app.Usagef(c,
			"--max-steps and --weights are given with --stream, which is one pass and keeps its last "+
				"weights")
	}
	if inOrder, ok := learners.Lookup(t.Learner, "no_shuffle"); ok {
		if err := inOrder.Set("true"); err != nil {
			return err
		}
	}
	if t.Read.Features = c.Int("features"); t.Read.Features < 0 {
		return app.Usagef(c, "--features is %d, wanted at least 1", t.Read.Features)
	}
	if list := c.String("classes"); list != "" {
		t.Read.Classes = strings.Split(list, ",")
	}
	return nil
}

// openStream begins to read, for a training that begins with a model so that they match.
func (t *Training) openStream(c *cli.Context) (*file.Stream, error) {
	o := t.Read
	if base := t.From; base != nil {
		how, err := app.OneOf(c, "match-features", "name", "position")
		if err != nil {
			return nil, err
		}
		if err := app.AsModel(c, &o, base.Meta.Features); err != nil {
			return nil, err
		}
		o.Classes = base.Meta.Classes
		if how == "name" && len(base.Meta.Features.Names) > 0 {
			o.FeatureNames = base.Meta.Features.Names
		}
		if base.Meta.Preparation.Steps.NeedsDense() {
			o.Storage = "dense"
		}
	}
	files, err := app.DataFiles(t.Data)
	if err != nil {
		return nil, err
	}
	return file.OpenStream(c.Context, t.Data, files, o)
}

// stream is train for examples that are seen once.
func (t *Training) stream(c *cli.Context) (err error) {
	ctx := c.Context
	s, err := t.openStream(c)
	if err != nil {
		if ctx.Err() != nil {
			return app.Interrupted(ctx)
		}
		return err
	}
	defer s.Close()
	first := s.First
	t.Notes.Say("data: %s, a stream of examples × %d features%s", t.Data, first.D,
		app.ClassesOf(first))
	for _, note := range first.Notes {
		t.Notes.Say("data: %s", note)
	}
	for _, warning := range first.Warnings {
		t.Notes.Warn("%s", warning)
	}
	noise, err := t.ReadNoise(ctx, first.Classes)
	if err != nil {
		return err
	}
	t.mark(&t.seconds.Read)
	if t.Engine, err = t.Device.Open(t.Notes, device.Work{}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.closeEngine()) }()
	t.mark(&t.seconds.Open)
	if t.From == nil {
		t.Preparation = t.Steps
	}
	_, passes := t.watch(c, first.Classes)
	trained, err := host.TrainStream(ctx, s, noise, t.Options)
	if err != nil {
		return fmt.Errorf("%s: %w", t.Data, err)
	}
	if err := trained.Save(t.Model); err != nil {
		return err
	}
	report := t.report(trained)
	report.Passes, report.Stream = *passes, true
	if err := report.print(c, t.Axes); err != nil {
		return err
	}
	if trained.Run.Stop == host.Interrupted {
		return fmt.Errorf("%w after %d examples; %s holds the weights of these, and --from %s goes on "+
			"with the next ones", app.ErrInterrupted, report.Examples, t.Model, t.Model)
	}
	return nil
}
