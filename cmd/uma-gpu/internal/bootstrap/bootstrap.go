// Package bootstrap is the command that learns from few labels and many that a rough model gives.
package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/outoffold"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

// Options have the labelled examples as Data.
type Options struct {
	training.Options
	Unlabelled string
	Rounds     int
	UseClean   bool
	Model      string
	Folder     string
}

func New(run func(context.Context, *Options) error) *cli.Command {
	o := new(Options)
	return &cli.Command{
		Name:  "bootstrap",
		Usage: "learn from few labelled examples and many that a rough model labels",
		Description: `Louche & Ralaivola (2015), Section 4.2.1, with any learner. The stages and their files in --dir:

  rough.npz      a model of the labelled examples
  confusion.csv  how it errs: on labelled examples, by models that have not seen them (--folds)
  labels.csv     its labels of the unlabelled examples, a line each
  --model        what is learned from these labels and that confusion matrix

The second round writes model-2.npz, confusion-2.csv and labels-2.csv, and so on. The model of one
round labels for the next. A file that is there is used as it is: look at a stage, replace it, and
run the command again. Remove what comes after it. --use-clean adds the labelled examples to the last
training; then the matrix is that of all labels together.

Example: uma-gpu bootstrap --labelled few.csv --unlabelled many.csv --dir stages --model m.npz`,
		Flags: app.Flags(
			app.Required(app.Input(&o.Data.Path, "labelled",
				"examples with right labels: `FILE` (required)")),
			app.Required(app.Input(&o.Unlabelled, "unlabelled",
				"examples without labels: `FILE` (required)")),
			app.Without(o.Data.Flags(&o.Common, ""), "data"), o.NormalizeFlag(), o.FoldFlags(),
			app.Range(&cli.IntFlag{Name: "rounds-of-labels", Value: 1, Destination: &o.Rounds,
				Usage: "label the examples `R` times, each by the model before"}, 1, math.MaxInt),
			&cli.BoolFlag{Name: "use-clean", Destination: &o.UseClean,
				Usage: "learn from the right labels too at the end"},
			o.EngineFlags(),
			app.Required(app.Output(&o.Model, "model", "`FILE`.npz for the trained model (required)")),
			app.Required(&cli.StringFlag{Name: "dir", Destination: &o.Folder,
				Usage: "`FOLDER` for the stages, one file each; one that is there is used (required)"}),
			o.QuietFlag()),
		Action: app.Action(o, run),
	}
}

// stages is a bootstrap under way.
type stages struct {
	*Options
	labelled *dataset.Dataset
	rest     *dataset.Dataset // without labels
}

// Run makes all stages.
func Run(ctx context.Context, o *Options) (err error) {
	if err := o.Check(nil); err != nil {
		return err
	}
	if err := os.MkdirAll(o.Folder, 0o777); err != nil {
		return err
	}
	s := &stages{Options: o}
	if s.labelled, err = o.Data.Read(ctx, o.Read); err != nil {
		return err
	}
	defer s.labelled.Close() // only read
	if err := s.readRest(ctx); err != nil {
		return err
	}
	defer s.rest.Close() // only read
	e, err := o.Where.Open(o.Notes, o.Work(s.rest))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	o.Train.Engine, o.Train.Watch = e, host.Watch{Note: o.Notes.Say}
	if err := s.run(ctx); err != nil {
		if err := app.Interrupted(ctx); err != nil {
			return err
		}
		return app.AdviseKernel(app.AdviseMemory(err))
	}
	return nil
}

// readRest reads the unlabelled examples as those with labels were read.
func (s *stages) readRest(ctx context.Context) (err error) {
	l, r := s.labelled, s.Read
	r.NoLabels, r.Labels, r.Classes, r.Features = true, "", l.Classes, l.FeatureCount()
	if r.Encoding = l.Encoding; r.Encoding != nil {
		r.FeatureNames = l.Features
	} else {
		r.Encode = nil
	}
	if r.Storage == "auto" && !l.Sparse() {
		r.Storage = "dense"
	} else if r.Storage == "auto" {
		r.Storage = "sparse"
	}
	if s.rest, err = app.ReadData(ctx, s.Unlabelled, r, s.Notes); err != nil {
		return fmt.Errorf("%w (wanted the features of --labelled and no labels; --ignore-columns "+
			"leaves a column out)", err)
	}
	return nil
}

// run makes the stages, one after the other.
func (s *stages) run(ctx context.Context) error {
	m, err := s.fitted(ctx, s.labelled, nil, s.file("rough", 1, ".npz"))
	if err != nil {
		return err
	}
	for round := 1; ; round++ {
		noise, err := s.noiseOf(ctx, m, round)
		if err != nil {
			return err
		}
		labels, err := s.labels(ctx, m, s.file("labels", round, ".csv"))
		if err != nil {
			return err
		}
		data := *s.rest
		data.Y, data.Classes, data.SHA256 = labels, s.labelled.Classes, ""
		if round == s.Rounds {
			return s.last(ctx, &data, noise)
		}
		if m, err = s.fitted(ctx, &data, noise, s.file("model", round+1, ".npz")); err != nil {
			return err
		}
	}
}

// file names that of a stage.
func (s *stages) file(name string, round int, ext string) string {
	if round > 1 {
		name = fmt.Sprintf("%s-%d", name, round)
	}
	return filepath.Join(s.Folder, name+ext)
}

// found says whether the file of a stage is there.
func (s *stages) found(path string) bool {
	_, err := os.Stat(path)
	if err == nil {
		s.Notes.Say("%s is there, and used as it is", path)
	}
	return !errors.Is(err, fs.ErrNotExist) // what else is wrong with it, reading it says
}

// fitted trains, or reads the model that is there.
func (s *stages) fitted(
	ctx context.Context, d *dataset.Dataset, noise *confusion.Matrix, path string,
) (*model.Model, error) {
	if s.found(path) {
		m, err := model.Load(path)
		if err == nil && !slices.Equal(m.Meta.Classes, s.labelled.Classes) {
			err = fmt.Errorf("%s: found a model of classes %.60q, wanted %.60q", path, m.Meta.Classes,
				s.labelled.Classes)
		}
		return m, err
	}
	s.Notes.Say("%s: training on %d examples", path, d.N)
	m, err := host.Train(ctx, d, noise, s.Train)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return m.Model, m.Save(path)
}

// noiseOf estimates how the model of a round errs on the labelled examples, and writes the matrix.
// The first model has learned from them: then it is models like it that have not seen the example.
func (s *stages) noiseOf(ctx context.Context, m *model.Model, round int,
) (*confusion.Matrix, error) {
	path := s.file("confusion", round, ".csv")
	if s.found(path) {
		return app.ReadMatrix(ctx, path, confusion.ReadOptions{Classes: s.labelled.Classes})
	}
	var predicted []int32
	if round == 1 {
		held, err := outoffold.Scores(ctx, s.labelled, nil, s.Train, s.Folds)
		if err != nil {
			return nil, err
		}
		predicted = engine.Predicted(held.Scores, held.Q)
	} else {
		var err error
		if predicted, err = s.predict(ctx, m, s.labelled); err != nil {
			return nil, err
		}
	}
	e, err := estimate.FromLabels(s.labelled.Classes, predicted, s.labelled.Y, nil)
	if err != nil {
		return nil, err
	}
	for _, note := range e.Notes {
		s.Notes.Say("%s: %s", path, note)
	}
	return &e.Matrix, atomicfile.Write(path, e.Matrix.Write)
}

func (s *stages) predict(ctx context.Context, m *model.Model, d *dataset.Dataset) ([]int32, error) {
	if d.Prepared != nil {
		return m.PredictPrepared(ctx, s.Train.Engine, d)
	}
	return m.Predict(ctx, s.Train.Engine, d)
}

// labels has the model label the unlabelled examples, or reads what is there.
func (s *stages) labels(ctx context.Context, m *model.Model, path string) ([]int32, error) {
	if s.found(path) {
		return file.ReadLabels(ctx, path, s.labelled.Classes, s.rest.N)
	}
	y, err := s.predict(ctx, m, s.rest)
	if err != nil {
		return nil, err
	}
	return y, atomicfile.Write(path, func(w io.Writer) error {
		for _, name := range m.Names(y) {
			if _, err := fmt.Fprintln(w, name); err != nil {
				return err
			}
		}
		return nil
	})
}

// last trains the result.
func (s *stages) last(ctx context.Context, d *dataset.Dataset, noise *confusion.Matrix) error {
	if s.UseClean {
		joined, err := d.Examples.Join(s.labelled.Examples)
		if err != nil {
			return err
		}
		noise = withClean(noise, d.Y, s.labelled.Y)
		d.Examples, d.Y = joined, append(slices.Clone(d.Y), s.labelled.Y...)
	}
	trained, err := host.Train(ctx, d, noise, s.Train)
	if err != nil {
		return err
	}
	if err := trained.Save(s.Model); err != nil {
		return err
	}
	s.Notes.Say("%s: %d steps (%s) on %d examples, estimated error %.4f", s.Model, trained.Run.Steps,
		trained.Meta.Stop, d.N, trained.Run.EstimatedError)
	if trained.Run.Stop == host.Interrupted {
		return fmt.Errorf("%w after %d steps; %s holds the weights of these", app.ErrInterrupted,
			trained.Run.Steps, s.Model)
	}
	return nil
}

// withClean returns the confusion matrix of noisy labels, by noise, and right labels together. The
// frequencies of the noisy labels and their matrix tell how many examples are of each true class.
func withClean(noise *confusion.Matrix, noisy, right []int32) *confusion.Matrix {
	q := noise.Q()
	labels, clean := make([]int64, q), make([]float64, q)
	for _, k := range noisy {
		labels[k]++
	}
	for _, k := range right {
		clean[k]++
	}
	share, _ := noise.Shares(labels)
	all := 0.0
	for _, v := range share {
		all += v
	}
	m := &confusion.Matrix{Classes: noise.Classes, P: slices.Clone(noise.P)}
	for t := range q {
		of := 1 / float64(q) // where no class has such labels
		if all > 0 {
			of = share[t] / all
		}
		of *= float64(len(noisy))
		if of+clean[t] == 0 {
			continue
		}
		for k := range q {
			m.P[k*q+t] *= of / (of + clean[t])
		}
		m.P[t*q+t] += clean[t] / (of + clean[t])
	}
	return m
}
