package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/judgement"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/host/outoffold"
)

// judgeHeld judges a model by examples that it has not seen.
func (t *training) judgeHeld(
	ctx context.Context, m *model.Model, held *dataset.Dataset, noise *confusion.Matrix,
) (*judgement.Judgement, error) {
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
	j, err := judgement.Of(held.Y, predicted, scores, m.Meta.Classes, noise)
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
	held        *judge.HeldOut
	estimatedBy outoffold.NoiseMethod // "" if C was not estimated
	device      engine.Device
}

// newOutOfFold checks the flags of such a command, reads its data and makes its trainings. Labels
// of annotators become their consensus, and the matrix that of it, unless the command estimates C.
func newOutOfFold(c *cli.Context, estimates bool, required ...string) (o *outOfFold, err error) {
	t, err := newTraining(c, required...)
	if err != nil {
		return nil, err
	}
	folds := c.Int("folds")
	if folds < 2 || folds > judge.MostFolds {
		return nil, app.Usagef(c, "--folds is %d, wanted 2 to %d", folds, judge.MostFolds)
	}
	t.estimates = estimates && t.confusion == "" && !t.learnsNoise()
	o = &outOfFold{training: t}
	if o.data, o.noise, err = t.readLabelled(c); err == nil {
		err = t.checkInverse(o.noise)
	}
	if err != nil {
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
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	t := o.training
	e, err := t.device.Open(t.notes, t.work(o.data))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if err := app.CheckTraining(e.Device(), o.data.N, o.data.D, len(o.data.Classes)); err != nil {
		return fmt.Errorf("%s: %w", t.data, err)
	}
	t.Engine, t.Preparation, o.device = e, t.steps, e.Device()
	if o.data.Prepared != nil && t.steps == "auto" {
		t.Preparation = ""
	}
	t.Watch = host.Watch{Note: t.notes.Say}
	if o.estimates {
		if err = o.estimate(ctx); err != nil {
			return err
		}
	}
	o.held, err = outoffold.Scores(ctx, o.data, o.noise, t.Options, folds)
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t.data, app.AdviseKernel(app.AdviseMemory(err)))
	}
	return nil
}

// estimate finds C, where it was not given.
func (o *outOfFold) estimate(ctx context.Context) error {
	found, err := outoffold.EstimateNoise(ctx, o.data,
		outoffold.NoiseOptions{Options: o.Options, Method: outoffold.JointLikelihood})
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	if err != nil {
		return fmt.Errorf("%s: %w", o.training.data, app.AdviseKernel(app.AdviseMemory(err)))
	}
	o.noise, o.estimatedBy = &found.Matrix, found.Chosen
	o.notes.Say("confusion matrix: estimated by %s", found.Chosen)
	return nil
}
