package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/device"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/outoffold"
	"github.com/uma-gpu/uma-gpu/internal/atomicfile"
)

func bootstrapCommand() *cli.Command {
	data := append([]cli.Flag{
		app.InputFlag{StringFlag: &cli.StringFlag{Name: "labelled",
			Usage: "examples with right labels: `FILE` (required)"}},
		app.InputFlag{StringFlag: &cli.StringFlag{Name: "unlabelled",
			Usage: "examples without labels: `FILE` (required)"}},
	}, app.DataFlags("")[1:]...) // without --data
	data = append(data, &cli.StringFlag{Name: "normalize", Value: "auto", Usage: app.NormalizeUsage})
	learner := append(training.FoldFlags(),
		&cli.IntFlag{Name: "rounds-of-labels", Value: 1,
			Usage: "label the examples `R` times, each by the model before"},
		&cli.BoolFlag{Name: "use-clean", Usage: "learn from the right labels too at the end"})
	output := []cli.Flag{
		app.OutputFlag{StringFlag: &cli.StringFlag{Name: "model",
			Usage: "`FILE`.npz for the trained model (required)"}},
		&cli.StringFlag{Name: "dir",
			Usage: "`FOLDER` for the stages, one file each; one that is there is used (required)"},
		app.QuietFlag(),
	}
	flags := append(data, learner...)
	flags = append(flags, app.TrainKernelFlags()...)
	flags = append(flags, device.Flags()...)
	flags = append(flags, output...)
	return &cli.Command{
		Name:  "bootstrap",
		Usage: "learn from few labelled examples and many that a rough model labels",
		Description: "Louche & Ralaivola (2015), Section 4.2.1, with any learner. The stages and " +
			"their files in --dir:\n\n" +
			"  rough.npz      a model of the labelled examples\n" +
			"  confusion.csv  how it errs: on labelled examples, each by a model that has not seen it " +
			"(--folds)\n" +
			"  labels.csv     what it says of the unlabelled ones, a line each\n" +
			"  --model        what is learned from these labels and that confusion matrix\n\n" +
			"Of the second round on the files are model-2.npz, confusion-2.csv, labels-2.csv and so on; " +
			"the model of\n" +
			"one round labels for the next. A file that is there is used as it is: look at a stage, " +
			"replace it, and\n" +
			"run the command again; remove what comes after it. With --use-clean the labelled examples " +
			"are added to\n" +
			"the last training, and the matrix is that of all labels together.\n\n" +
			"Example: uma-gpu bootstrap --labelled few.csv --unlabelled many.csv --dir stages --model m.npz",
		Flags:  flags,
		Action: bootstrap,
	}
}

// stages is a bootstrap under way.
type stages struct {
	*training.Training
	dir      string
	folds    int
	labelled *dataset.Dataset
	rest     *dataset.Dataset // without labels
}

func bootstrap(c *cli.Context) (err error) {
	t, err := training.New(c, "labelled", "unlabelled", "model", "dir")
	if err != nil {
		return err
	}
	s := &stages{Training: t, dir: c.String("dir"), folds: c.Int("folds")}
	rounds := c.Int("rounds-of-labels")
	switch {
	case rounds < 1:
		return app.Usagef(c, "--rounds-of-labels is %d, wanted at least 1", rounds)
	case s.folds < 2 || s.folds > judge.MostFolds:
		return app.Usagef(c, "--folds is %d, wanted 2 to %d", s.folds, judge.MostFolds)
	}
	if err := os.MkdirAll(s.dir, 0o777); err != nil {
		return err
	}
	if err := s.read(c); err != nil {
		return err
	}
	defer s.close()
	e, err := t.Device.Open(t.Notes, t.Work(s.rest))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	t.Engine, t.Preparation = e, t.Steps
	t.Watch = host.Watch{Note: t.Notes.Say}
	if err := s.run(c.Context, rounds, c.Bool("use-clean")); err != nil {
		if err := app.Interrupted(c.Context); err != nil {
			return err
		}
		return app.AdviseKernel(app.AdviseMemory(err))
	}
	return nil
}

func (s *stages) read(c *cli.Context) (err error) {
	if s.labelled, err = app.ReadData(c.Context, c.String("labelled"), s.Training.Read,
		s.Notes); err != nil {
		return err
	}
	o := s.Training.Read
	o.NoLabels, o.Labels, o.Classes, o.Features = true, "", s.labelled.Classes,
		s.labelled.FeatureCount()
	if o.Encoding = s.labelled.Encoding; o.Encoding != nil {
		o.FeatureNames = s.labelled.Features
	} else {
		o.Encode = nil
	}
	if o.Storage == "auto" && !s.labelled.Sparse() {
		o.Storage = "dense"
	} else if o.Storage == "auto" {
		o.Storage = "sparse"
	}
	if s.rest, err = app.ReadData(c.Context, c.String("unlabelled"), o, s.Notes); err != nil {
		s.close()
		return fmt.Errorf("%w (wanted the features of --labelled and no labels; --ignore-columns "+
			"leaves a column out)", err)
	}
	return nil
}

// close frees what was only read: there is nothing to lose.
func (s *stages) close() {
	if s.labelled != nil {
		s.labelled.Close()
	}
	if s.rest != nil {
		s.rest.Close()
	}
}

// run makes all stages.
func (s *stages) run(ctx context.Context, rounds int, useClean bool) error {
	rough, err := s.roughModel(ctx)
	if err != nil {
		return err
	}
	noise, err := s.roughNoise(ctx)
	if err != nil {
		return err
	}
	for round := 1; ; round++ {
		labels, err := s.labels(ctx, rough, s.file("labels", round, ".csv"))
		if err != nil {
			return err
		}
		data := *s.rest
		data.Y, data.Classes, data.SHA256 = labels, s.labelled.Classes, ""
		if round == rounds {
			return s.last(ctx, &data, noise, useClean)
		}
		if rough, err = s.fitted(ctx, &data, noise, s.file("model", round+1, ".npz")); err != nil {
			return err
		}
		if noise, err = s.noiseOf(ctx, rough, s.file("confusion", round+1, ".csv")); err != nil {
			return err
		}
	}
}

// file names that of a stage.
func (s *stages) file(name string, round int, ext string) string {
	if round > 1 {
		name = fmt.Sprintf("%s-%d", name, round)
	}
	return filepath.Join(s.dir, name+ext)
}

// found says whether the file of a stage is there.
func (s *stages) found(path string) bool {
	_, err := os.Stat(path)
	if err == nil {
		s.Notes.Say("%s is there, and used as it is", path)
	}
	return !errors.Is(err, fs.ErrNotExist) // what else is wrong with it, reading it says
}

func (s *stages) roughModel(ctx context.Context) (*model.Model, error) {
	return s.fitted(ctx, s.labelled, nil, s.file("rough", 1, ".npz"))
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
	m, err := host.Train(ctx, d, noise, s.Options)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return m.Model, m.Save(path)
}

// roughNoise estimates how the rough model errs, from models like it that have not seen the
// example.
func (s *stages) roughNoise(ctx context.Context) (*confusion.Matrix, error) {
	path := s.file("confusion", 1, ".csv")
	if s.found(path) {
		return s.readNoise(ctx, path)
	}
	held, err := outoffold.Scores(ctx, s.labelled, nil, s.Options, s.folds)
	if err != nil {
		return nil, err
	}
	return s.estimate(engine.Predicted(held.Scores, held.Q), path)
}

// noiseOf estimates how a model errs that has seen none of the labelled examples.
func (s *stages) noiseOf(
	ctx context.Context, m *model.Model, path string,
) (*confusion.Matrix, error) {
	if s.found(path) {
		return s.readNoise(ctx, path)
	}
	predicted, err := s.predict(ctx, m, s.labelled)
	if err != nil {
		return nil, err
	}
	return s.estimate(predicted, path)
}

func (s *stages) readNoise(ctx context.Context, path string) (*confusion.Matrix, error) {
	return app.ReadMatrix(ctx, path, confusion.ReadOptions{Classes: s.labelled.Classes})
}

// estimate writes the matrix of what a model says of the labelled examples.
func (s *stages) estimate(predicted []int32, path string) (*confusion.Matrix, error) {
	e, err := estimate.FromLabels(s.labelled.Classes, predicted, s.labelled.Y, nil)
	if err != nil {
		return nil, err
	}
	for _, note := range e.Notes {
		s.Notes.Say("%s: %s", path, note)
	}
	return &e.Matrix, e.Matrix.Write(path)
}

func (s *stages) predict(ctx context.Context, m *model.Model, d *dataset.Dataset) ([]int32, error) {
	if d.Prepared != nil {
		return m.PredictPrepared(ctx, s.Engine, d)
	}
	return m.Predict(ctx, s.Engine, d)
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
func (s *stages) last(ctx context.Context, d *dataset.Dataset, noise *confusion.Matrix,
	useClean bool) error {
	if useClean {
		joined, err := d.Examples.Join(s.labelled.Examples)
		if err != nil {
			return err
		}
		noise = withClean(noise, d.Y, s.labelled.Y)
		d.Examples, d.Y = joined, append(slices.Clone(d.Y), s.labelled.Y...)
	}
	trained, err := host.Train(ctx, d, noise, s.Options)
	if err != nil {
		return err
	}
	if err := trained.Save(s.Model); err != nil {
		return err
	}
	s.Notes.Say("%s: %d steps (%s) on %d examples, estimated error %.4f", s.Model, trained.Run.Steps,
		trained.Meta.Stop,
		d.N, trained.Run.EstimatedError)
	if trained.Run.Stop == host.Interrupted {
		return fmt.Errorf("%w after %d steps; %s holds the weights of these", app.ErrInterrupted,
			trained.Run.Steps, s.Model)
	}
	return nil
}

// withClean returns the confusion matrix of noisy labels, by noise, and right ones together: of
// each true class as many labels are right as right ones add to it. How many of the noisy ones are
// of a class, the labels' frequencies and the matrix tell.
func withClean(noise *confusion.Matrix, noisy, right []int32) *confusion.Matrix {
	q := noise.Q()
	labels, clean := make([]int64, q), make([]float64, q)
	for _, k := range noisy {
		labels[k]++
	}
	for _, k := range right {
		clean[k]++
	}
	share := noise.Shares(labels)
	m := &confusion.Matrix{Classes: noise.Classes, P: slices.Clone(noise.P)}
	for t := range q {
		of := share[t] * float64(len(noisy))
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
