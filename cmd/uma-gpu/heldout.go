package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// holdOut divides d by --validate in what to learn from and what to judge by, nil if all is to
// be learned from. d has then lost its examples.
func (t *training) holdOut(d *dataset.Dataset) (fit, held *dataset.Dataset, err error) {
	if t.validate == 0 {
		return d, nil, nil
	}
	parts, err := dataset.SplitFractions(d, []float64{1 - t.validate, t.validate}, t.Seed, dataset.InPlace)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: --validate: %w", t.data, err)
	}
	if err := d.Close(); err != nil { // parts are copies
		return nil, nil, err
	}
	d.Put(dataset.Examples{})
	t.notes.say("validate: %d examples to learn from, %d to judge by", parts[0].N, parts[1].N)
	return parts[0], parts[1], nil
}

// judgeHeld judges a model by examples that it has not seen.
func (t *training) judgeHeld(
	ctx context.Context, m *model.Model, held *dataset.Dataset, noise *confusion.Matrix,
) (*judgement, error) {
	of := m.Scores
	if held.Prepared != nil {
		of = m.ScoresPrepared
	}
	scores, err := of(ctx, t.Engine, held)
	if err != nil {
		return nil, fmt.Errorf("examples held out: %w", err)
	}
	predicted := engine.Predicted(scores, m.Q)
	if m.Meta.Temperature == 0 {
		scores = nil
	} else if err := m.ToProbabilities(scores); err != nil {
		return nil, err
	}
	j, err := judge(held.Y, predicted, scores, m.Meta.Classes, noise)
	return &j, err
}

// foldFlags say how to learn, and how many parts are held out in turn. That takes the place of a
// learner's flag of the same name, which keeps its default.
func foldFlags() []cli.Flag {
	return append(without(learningFlags(), "folds"),
		&cli.IntFlag{Name: "folds", Value: 5, Usage: "hold out `K` parts in turn, from K trainings"})
}

// outOfFold is what the commands that judge all examples by models which have not seen them share.
type outOfFold struct {
	*training
	data        *dataset.Dataset // raw, for the caller to close
	noise       *confusion.Matrix
	held        *host.HeldOut
	estimatedBy host.NoiseMethod // "" if C was not estimated
	device      engine.Device
}

// newOutOfFold checks the flags of such a command, reads its data and makes its trainings. Labels of
// annotators become their consensus, and the matrix that of it, unless the command estimates C.
func newOutOfFold(c *cli.Context, estimates bool, required ...string) (o *outOfFold, err error) {
	t, err := newTraining(c, required...)
	if err != nil {
		return nil, err
	}
	folds := c.Int("folds")
	if folds < 2 || folds > host.MostFolds {
		return nil, usagef(c, "--folds is %d, wanted 2 to %d", folds, host.MostFolds)
	}
	t.estimates = estimates && t.confusion == "" && !t.learnsNoise()
	o = &outOfFold{training: t}
	if o.data, o.noise, err = t.readAll(c); err != nil {
		o.close()
		return nil, err
	}
	noise := o.noise
	if t.Annotations != nil && !estimates {
		if noise, err = t.judgeByConsensus(c.Context, o.data); err != nil {
			o.close()
			return nil, err
		}
	}
	if err := o.train(c.Context, folds); err != nil {
		o.close()
		return nil, err
	}
	if o.noise == nil {
		o.noise = noise
	}
	return o, nil
}

// close frees the data.
func (o *outOfFold) close() {
	if o.data != nil {
		o.data.Close() // of what was only read: nothing to lose
	}
}

func (o *outOfFold) train(ctx context.Context, folds int) (err error) {
	if err := interrupted(ctx); err != nil {
		return err
	}
	t := o.training
	e, err := t.device.open(t.notes, t.work(o.data))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if err := checkTraining(e.Device(), o.data.N, o.data.D, len(o.data.Classes)); err != nil {
		return fmt.Errorf("%s: %w", t.data, err)
	}
	t.Engine, t.Preparation, o.device = e, t.steps, e.Device()
	if o.data.Prepared != nil && t.steps == "auto" {
		t.Preparation = ""
	}
	t.Watch = host.Watch{Note: t.notes.say}
	if o.estimates {
		if err = o.estimate(ctx); err != nil {
			return err
		}
	}
	o.held, err = host.OutOfFold(ctx, o.data, o.noise, t.Options, folds)
	if err := interrupted(ctx); err != nil {
		return err
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t.data, adviseKernel(adviseMemory(err)))
	}
	return nil
}

// estimate finds C, where it was not given.
func (o *outOfFold) estimate(ctx context.Context) error {
	found, err := host.EstimateNoise(ctx, o.data, host.NoiseOptions{Options: o.Options, Method: host.JointLikelihood})
	if err := interrupted(ctx); err != nil {
		return err
	}
	if err != nil {
		return fmt.Errorf("%s: %w", o.training.data, adviseKernel(adviseMemory(err)))
	}
	o.noise, o.estimatedBy = &found.Matrix, found.Chosen
	o.notes.say("confusion matrix: estimated by %s", found.Chosen)
	return nil
}
