package fit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

// A fit of many examples that begins from W = 0 makes its first way on a part of them, where an
// iteration costs as much less and is as good a guide, and that one likewise. A search for λ among
// more than mostSearched examples is made there altogether. Parts are of about mostSearched
// examples, or a quarter.
const (
	leastSampled = 1 << 12 // examples that are worth it
	mostSearched = 1 << 14
	mostParts    = 4
)

// mayHeadStart reports whether fits may have a head start. Backward correction has none: its loss
// has no lower bound, and falls the deeper the fewer examples there are.
func mayHeadStart(r *training) bool { return r.Correction != learners.Backward && r.noise == nil }

// headStartFromZero is headStart of fits of many examples that begin from W = 0; others continue
// from w.
func headStartFromZero(ctx context.Context, r *training, w []float32, held []int,
) ([]float32, error) {
	p := r.Params
	if held != nil {
		p.Correction = learners.Forward
	}
	_, begun, err := recall[penalty](&r.memo, headStarted)
	fromZero := !slices.ContainsFunc(w, func(v float32) bool { return v != 0 })
	if err != nil || !begun && (!mayHeadStart(r) || len(r.problem.Y) < leastSampled ||
		p.Correcting().CheckEvidence(r.problem) != nil || !fromZero) {
		return w, err
	}
	w, _, err = headStart(ctx, r, w, held)
	return w, err
}

const headStarted = "head start"

// headStart makes a fit, or a search, of a part of the examples, and returns where it ends and the
// λ for all examples. The part has its share of each label and nothing of the first fold in held,
// and, if it is large, a head start of its own.
func headStart(ctx context.Context, r *training, w []float32, held []int,
) ([]float32, float64, error) {
	if s, ok, err := recall[penalty](&r.memo, headStarted); ok || err != nil {
		return s.W, s.Lambda, err
	}
	n := len(r.problem.Y)
	parts := max(2, min(mostParts, (n+mostSearched-1)/mostSearched))
	_, some := dataset.DivideFolds(dataset.DrawFolds(r.problem.Y, r.problem.Q, parts,
		r.problem.Seed^dataset.InnerFolds, dataset.InnerFolds), 0)
	p := r.Params
	p.Tolerance *= rough
	if r.stage != searching {
		p.L2 = softmax.L2(r.lambda)
	}
	if held != nil {
		p.Correction = learners.Forward
		some = slices.DeleteFunc(some, func(i int) bool { return held[i] == 0 })
	}
	s := penalty{W: slices.Clone(w)}
	part, err := learnPart(ctx, &p, r.problem, some, s.W)
	if err != nil {
		return nil, 0, err
	}
	share := float64(len(some)) / float64(n)
	r.solver.Evaluations += part.solver.Evaluations * share
	r.cut = r.cut || part.cut
	if s.Lambda = r.lambda; r.stage == searching {
		s.Lambda = part.lambda * share
	}
	if r.stage == searching {
		r.stage = fitting
	}
	r.lambda = s.Lambda
	if err := r.memo.keep(headStarted, s); err != nil {
		return nil, 0, err
	}
	return s.W, s.Lambda, r.move(s.W, learners.Field{Name: "examples", Value: len(some)})
}

// errTimeUp ends a run on a part of the examples whose time is up.
var errTimeUp = errors.New("softmax: time is up")

// learnPart runs the learner on some of the examples, from w on, until it ends or its time is up,
// and returns the closed run. A cancelled ctx ends it with ctx's error.
func learnPart(ctx context.Context, p *softmax.Params, problem *learners.Problem, some []int,
	w []float32,
) (r *training, err error) {
	part := problem.On(problem.X.Pick(some), lists.At(problem.Y, some))
	part.Evidence = problem.Evidence.Pick(some, problem.Q)
	if r, err = newTraining(p, part); err != nil {
		return nil, err
	}
	r.part = true
	ctx, task := progress.Begin(ctx, progress.Work{
		Name: fmt.Sprintf("learning from %d examples", len(some)), Unit: "step"})
	defer task.End()
	v := engine.Weights{Q: problem.Q, D: problem.X.D, W: w}
	_, err = r.Fit(ctx, v, func(s learners.Step) error {
		task.Enter(s.Stage)
		task.Add(1)
		if err := ctx.Err(); err != nil {
			return err
		}
		if problem.TimeSpent() >= 1 {
			return errTimeUp
		}
		return nil
	})
	if errors.Is(err, errTimeUp) {
		err = nil
	}
	return r, errors.Join(err, r.Close())
}
