package softmax

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/learners"
)

// which returns the examples of those folds that want holds of.
func which(folds []uint8, want func(uint8) bool) (some []int) {
	for i, f := range folds {
		if want(f) {
			some = append(some, i)
		}
	}
	return some
}

// learn runs the learner on some of the examples, from w on, until it ends or its time is up, and
// returns the closed run. A cancelled ctx ends it with ctx's error.
func learn(ctx context.Context, p *Params, problem *learners.Problem, some []int, w engine.Weights,
) (l *run, err error) {
	y := make([]int32, len(some))
	for k, i := range some {
		y[k] = problem.Y[i]
	}
	rows, release, err := problem.Rows().Keep(some)
	defer release()
	if err != nil {
		return nil, err
	}
	part := problem.On(rows, y)
	part.Evidence = problem.Evidence.Pick(some, problem.Q)
	if l, err = p.startRun(part); err != nil {
		return nil, err
	}
	return l, errors.Join(l.toEnd(ctx, w), l.Close())
}

// toEnd makes steps from w on until the run ends or its time is up.
func (l *run) toEnd(ctx context.Context, w engine.Weights) error {
	ctx, task := progress.Begin(ctx, progress.Work{
		Name: fmt.Sprintf("learning from %d examples", len(l.problem.Y)), Unit: "step"})
	defer task.End()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		s, err := l.Step(ctx, w)
		task.Enter(s.Stage)
		task.Add(1)
		if err != nil || s.Done || learners.TimeSpent(ctx) >= 1 {
			return err
		}
	}
}

// ahead returns the mean of n differences, and the standard error of that.
func ahead(n int, difference func(i int) float64) (mean, deviation float64) {
	var squares float64
	for i := range n {
		d := difference(i)
		mean += d
		squares += float64(d * d)
	}
	mean /= float64(n)
	return mean, math.Sqrt(max(0, squares/float64(n)-float64(mean*mean)) / float64(n))
}
