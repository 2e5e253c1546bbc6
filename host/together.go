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

// Together says whether OutOfFoldAll trains with these options side by side with others: if the
// learner has a StepAll, the features are not mapped, and of the weights of all steps only one is kept.
func (o *Options) Together() bool {
	if o.Learner == nil || o.Learner.Definition().StepAll == nil || o.Kernel != nil || o.Annotations != nil {
		return false
	}
	rule, err := o.Learner.Definition().Rule(string(o.Weights))
	return err == nil && (rule == learners.Last || rule == learners.Best)
}

// OutOfFoldAll is OutOfFold for several ways to train that may differ in Learner, MaxSteps and Weights
// alone, all of which are Together: the results have the same bits. Examples are prepared once for all
// ways, and a step of the learners reads them once. It takes the memory of the weights of all
// ways, several times. The error of any way ends it.
func OutOfFoldAll(
	ctx context.Context, data *dataset.Dataset, noise *confusion.Matrix, ways []Options, folds int,
) ([]*HeldOut, error) {
	if len(ways) == 0 {
		return nil, nil
	}
	for k := range ways {
		if o := &ways[k]; !o.Together() || o.Seed != ways[0].Seed || o.Preparation != ways[0].Preparation {
			return nil, fmt.Errorf("out of fold: found a way to train, number %d, that cannot be made together with the "+
				"first, wanted a learner that steps with others, no kernel, and the same preparation and seed", k+1)
		}
	}
	all, spreads := make([]*HeldOut, len(ways)), make([][]float64, len(ways))
	labelled := data
	for k, o := range ways {
		var err error
		if labelled, all[k], err = newHeldOut(data, o, folds); err != nil {
			return nil, err
		}
	}
	note := ways[0].Watch.Note
	fitting := ctx
	ctx, task := progress.Begin(ctx, foldWork(folds))
	defer task.End()
	for f := range folds {
		runs, err := holdOutAll(ctx, labelled, noise, ways, all, f)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("fold %d of %d: %w", f+1, folds, err)
		}
		for k, r := range runs {
			spreads[k] = append(spreads[k], deviation(r.w))
		}
		if note != nil {
			note("fold %d of %d: %d trainings side by side", f+1, folds, len(ways))
		}
		task.Add(1)
	}
	task.End()
	for k, h := range all {
		h.finish(fitting, spreads[k], labelled.Y, noise, note)
	}
	return all, nil
}

// holdOutAll learns in all ways without fold f and scores it.
func holdOutAll(
	ctx context.Context, data *dataset.Dataset, noise *confusion.Matrix, ways []Options, all []*HeldOut, f int,
) (runs []*run, err error) {
	part, _, rest, release, err := all[0].part(data, f)
	defer release()
	if err != nil {
		return nil, err
	}
	var trainings []*training
	for _, o := range ways {
		o.TemperatureFolds, o.Watch = 0, Watch{}
		t, err := newTraining(part, noise, o)
		if err != nil {
			return nil, err
		}
		if err := t.prepare(); err != nil {
			return nil, err
		}
		part = &t.data // prepared, for the next
		trainings = append(trainings, t)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if runs, err = learnAll(ctx, trainings); err != nil {
		return nil, err
	}
	for block := range slices.Chunk(rest, max(1, temperatureBlock/max(1, data.D))) {
		x := data.Examples.Pick(block)
		if data.Prepared == nil {
			if x, err = part.Prepared.Apply(x); err != nil {
				return nil, err
			}
		}
		for k, r := range runs {
			s, err := engine.Scores(ways[k].Engine, r.w, x)
			if err != nil {
				return nil, err
			}
			q := all[k].Q
			for b, i := range block {
				copy(all[k].Scores[i*q:], s[b*q:(b+1)*q])
			}
		}
	}
	return runs, nil
}

// learnAll is Run for trainings of one problem side by side. The w of a run that it returns is the
// weights that its rule keeps.
func learnAll(ctx context.Context, trainings []*training) (runs []*run, err error) {
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
			return runs, err
		}
		runs = append(runs, r)
	}
	going := slices.Clone(runs)
	most := func(r *run) int { return trainings[slices.Index(runs, r)].MaxSteps }
	work := progress.Work{Name: fmt.Sprintf("learning in %d ways", len(runs)), Unit: "step", AtMost: true}
	for _, r := range runs {
		work.Total = max(work.Total, int64(most(r)))
	}
	_, task := progress.Begin(ctx, work)
	defer task.End()
	for len(going) > 0 {
		task.Reach(int64(going[0].steps))
		for _, r := range going {
			if r.keep.chooses() {
				counts, estimate, err := r.count(ctx, r.w, learners.AllClasses(r.w.Q))
				if err != nil {
					return runs, err
				}
				r.keep.assigned(r.w, r.steps, estimate, counts)
			}
		}
		going = slices.DeleteFunc(going, func(r *run) bool { return r.steps >= most(r) })
		if going, err = stepAll(ctx, trainings[0].Learner.Definition().StepAll, going); err != nil {
			return runs, err
		}
	}
	for _, r := range runs {
		if r.keep.chooses() {
			r.w = r.keep.best
		}
	}
	return runs, nil
}

// stepAll makes a step of each run, and returns those that have not converged.
func stepAll(
	ctx context.Context, step func(context.Context, []learners.Learner, []engine.Weights) ([]learners.Step, error),
	going []*run,
) (left []*run, err error) {
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
