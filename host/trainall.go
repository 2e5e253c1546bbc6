package host

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/learners"
)

// ErrTogether marks options that TrainAll does not take.
var ErrTogether = errors.New("trainings cannot be made side by side")

// Together returns whether TrainAll takes these options: the learner has a StepAll, the features
// are not mapped, the rule keeps the weights of one step, and the time has no limit.
func (o *Options) Together() bool {
	if o.Time != 0 || o.Learner == nil || o.Learner.Definition().StepAll == nil || o.Kernel != nil ||
		o.Annotations != nil {
		return false
	}
	rule, err := o.Learner.Definition().Rule(string(o.Weights))
	return err == nil && (rule == learners.Last || rule == learners.Best)
}

// TrainAll returns the weights that Train would learn by each of several options, all of them
// Together, and the preparation of the examples. The options may differ in Learner, MaxSteps and
// Weights alone. data is prepared once, and a step of the learners reads it once. The first error
// ends it.
func TrainAll(ctx context.Context, data *dataset.Dataset, noise *confusion.Matrix, all []Options,
) (_ []engine.Weights, _ *dataset.Preparation, err error) {
	for k := range all {
		if o := &all[k]; !o.Together() || o.Seed != all[0].Seed || o.Preparation != all[0].Preparation {
			return nil, nil, fmt.Errorf("%w: options %d: got another preparation or seed than the first, a "+
				"kernel map, or a learner that steps alone (see Options.Together)", ErrTogether, k+1)
		}
	}
	var trainings []*trainer
	for _, o := range all {
		o.Trial, o.Watch = true, Watch{}
		if data, err = o.count(data); err != nil {
			return nil, nil, err
		}
		t, err := newTrainer(data, noise, o)
		if err != nil {
			return nil, nil, err
		}
		if err := t.prepare(); err != nil {
			return nil, nil, err
		}
		data = &t.data // prepared, for the next
		trainings = append(trainings, t)
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	weights, err := learnAll(ctx, trainings)
	return weights, data.Prepared, err
}

// learnAll is Run for trainings of one problem side by side. It returns the weights that each rule
// keeps.
func learnAll(ctx context.Context, trainings []*trainer) (weights []engine.Weights, err error) {
	var runs []*loop
	loaded, err := trainings[0].problem.Load()
	if err != nil {
		return nil, err
	}
	defer func() {
		for _, r := range runs {
			err = errors.Join(err, r.learner.Close())
		}
		err = errors.Join(err, loaded.Close())
	}()
	for _, t := range trainings {
		t.problem.Loaded = loaded
		r, err := start(ctx, t.Learner, t.problem, RunOptions{Weights: t.Weights})
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	going := slices.Clone(runs)
	most := func(r *loop) int { return trainings[slices.Index(runs, r)].MaxSteps }
	_, task := progress.Begin(ctx, progress.Work{
		Name: fmt.Sprintf("learning in %d ways", len(runs)), Unit: "step"})
	defer task.End()
	for len(going) > 0 {
		task.Reach(int64(going[0].steps))
		for _, r := range going {
			if r.choice.chooses() {
				counts, estimate, err := r.count(ctx, r.w, learners.AllClasses(r.w.Q))
				if err != nil {
					return nil, err
				}
				r.choice.iterate(r.w, r.steps, estimate, counts)
			}
		}
		going = slices.DeleteFunc(going, func(r *loop) bool { return r.steps >= most(r) })
		if going, err = stepAll(ctx, trainings[0].Learner.Definition().StepAll, going); err != nil {
			return nil, err
		}
	}
	for _, r := range runs {
		if r.choice.chooses() {
			r.w = r.choice.best
		}
		weights = append(weights, r.w)
	}
	return weights, nil
}

// stepAll makes a step of each run, and returns the runs that have not converged.
func stepAll(ctx context.Context, step func(context.Context, []learners.Learner,
	[]engine.Weights) ([]learners.Step, error), going []*loop) (left []*loop, err error) {
	if len(going) == 0 {
		return nil, nil
	}
	var all []learners.Learner
	var w []engine.Weights
	for _, r := range going {
		all, w = append(all, r.learner), append(w, r.w)
	}
	steps, err := step(ctx, all, w)
	if err != nil {
		return nil, fmt.Errorf("step %d: %w", going[0].steps+1, err)
	}
	for k, r := range going {
		if !steps[k].Done {
			r.steps++
			left = append(left, r)
		}
	}
	return left, nil
}
