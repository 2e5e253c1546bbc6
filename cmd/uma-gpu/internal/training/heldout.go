package training

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
func (t *Training) judgeHeld(
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

// FoldFlags say how to learn, and how many parts are held out in turn. That takes the place of a
// learner's flag of the same name, which keeps its default.
func FoldFlags() []cli.Flag {
	return append(Without(LearningFlags(), "folds"),
		&cli.IntFlag{Name: "folds", Value: 5, Usage: "hold out `K` parts in turn, from K trainings"})
}

// OutOfFold is what the commands that judge all examples by models which have not seen them share.
type OutOfFold struct {
	*Training
	Data        *dataset.Dataset // raw, for the caller to close
	Noise       *confusion.Matrix
	Held        *judge.HeldOut
	EstimatedBy outoffold.NoiseMethod // "" if C was not estimated
	Device      engine.Device
}

// NewOutOfFold checks the flags of such a command, reads its data and makes its trainings. Labels
// of annotators become their consensus, and the matrix that of it, unless the command estimates C.
func NewOutOfFold(c *cli.Context, estimates bool, required ...string) (o *OutOfFold, err error) {
	t, err := New(c, required...)
	if err != nil {
		return nil, err
	}
	folds := c.Int("folds")
	if folds < 2 || folds > judge.MostFolds {
		return nil, app.Usagef(c, "--folds is %d, wanted 2 to %d", folds, judge.MostFolds)
	}
	t.estimates = estimates && t.Confusion == "" && !t.learnsNoise()
	o = &OutOfFold{Training: t}
	if o.Data, o.Noise, err = t.readLabelled(c); err == nil {
		err = t.checkInverse(o.Noise)
	}
	if err != nil {
		o.Close()
		return nil, err
	}
	noise := o.Noise
	if t.Annotations != nil && !estimates {
		if noise, err = t.JudgeByConsensus(c.Context, o.Data); err != nil {
			o.Close()
			return nil, err
		}
	}
	if err := o.Train(c.Context, folds); err != nil {
		o.Close()
		return nil, err
	}
	if o.Noise == nil {
		o.Noise = noise
	}
	return o, nil
}

// Close frees the data.
func (o *OutOfFold) Close() {
	if o.Data != nil {
		o.Data.Close() // of what was only read: nothing to lose
	}
}

func (o *OutOfFold) Train(ctx context.Context, folds int) (err error) {
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	t := o.Training
	e, err := t.Device.Open(t.Notes, t.Work(o.Data))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if err := app.CheckTraining(e.Device(), o.Data.N, o.Data.D, len(o.Data.Classes)); err != nil {
		return fmt.Errorf("%s: %w", t.Data, err)
	}
	t.Engine, t.Preparation, o.Device = e, t.Steps, e.Device()
	if o.Data.Prepared != nil && t.Steps == "auto" {
		t.Preparation = ""
	}
	t.Watch = host.Watch{Note: t.Notes.Say}
	if o.estimates {
		if err = o.estimate(ctx); err != nil {
			return err
		}
	}
	o.Held, err = outoffold.Scores(ctx, o.Data, o.Noise, t.Options, folds)
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t.Data, app.AdviseKernel(app.AdviseMemory(err)))
	}
	return nil
}

// estimate finds C, where it was not given.
func (o *OutOfFold) estimate(ctx context.Context) error {
	found, err := outoffold.EstimateNoise(ctx, o.Data,
		outoffold.NoiseOptions{Options: o.Options, Method: outoffold.JointLikelihood})
	if err := app.Interrupted(ctx); err != nil {
		return err
	}
	if err != nil {
		return fmt.Errorf("%s: %w", o.Training.Data, app.AdviseKernel(app.AdviseMemory(err)))
	}
	o.Noise, o.EstimatedBy = &found.Matrix, found.Chosen
	o.Notes.Say("confusion matrix: estimated by %s", found.Chosen)
	return nil
}
