package softmax

import (
	"context"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
)

// A fit of many examples that begins from W = 0 makes its first way on one of sampled of them,
// where an iteration costs as much less and is as good a guide, and that one likewise. Of more
// iterations the sample's own minimum would be the goal. What a sample has found out of the
// curvature was tried as well, and hinders.
const (
	leastSampled     = 1 << 12 // examples that are worth it
	sampled          = 3
	sampleIterations = 15
)

// wantsHeadStart says whether the fit that begins from w is to have a head start. Backward
// correction has none: its loss has no lower bound, and falls the deeper the fewer examples there
// are. Fits of a search begin from each other, and those of a crossing each see other examples.
func (l *run) wantsHeadStart(w []float32) bool {
	return l.state.Stage == fitting && !l.state.HeadStart && len(l.problem.Y) >= leastSampled &&
		l.Correction != Backward && l.noise == nil && l.state.Cleaned.Weight == nil &&
		!slices.ContainsFunc(w, func(v float32) bool { return v != 0 })
}

// headStart moves w to where a fit of a sample ends, which has its share of each label and, if it
// is large, a head start of its own. After an error w is as it was.
func (l *run) headStart(ctx context.Context, w engine.Weights) (learners.Step, error) {
	folds := folds(l.problem.Y, l.problem.Q, sampled, l.problem.Seed^stream)
	some := which(folds, func(f uint8) bool { return f == 0 })
	p, v := l.Params, w.Clone()
	p.Iterations = min(p.Iterations, sampleIterations)
	if err := learn(ctx, &p, l.problem, some, v); err != nil {
		return learners.Step{}, err
	}
	if err := l.beginFit(v.W); err != nil { // now, so that Count finds the scores there
		return learners.Step{}, err
	}
	copy(w.W, v.W)
	l.state.HeadStart = true
	s := l.stepped(w)
	s.Fields = append(s.Fields, learners.Field{Name: "examples", Value: len(some)})
	return s, nil
}
