package softmax

import (
	"context"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
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

// wantsHeadStart says whether the fit that begins from w is to have a head start. Backward
// correction has none: its loss has no lower bound, and falls the deeper the fewer examples there
// are. Fits of a search begin from each other, as do those of a crossing.
func (l *run) wantsHeadStart(w []float32) bool {
	if l.state.HeadStart || l.Correction == Backward || l.noise != nil {
		return false
	}
	switch l.state.Stage {
	case searching:
		s := &l.state.Search
		return len(l.problem.Y) > mostSearched && s.BestW == nil && s.Fold == 0 && l.state.Made == 0
	case fitting, crossfitting:
		p := l.Params
		if l.state.Stage == crossfitting {
			p.Correction = Forward
		}
		return len(l.problem.Y) >= leastSampled && p.checkEvidence(l.problem) == nil &&
			!slices.ContainsFunc(w, func(v float32) bool { return v != 0 })
	}
	return false
}

// headStart moves w to where a fit of a part of the examples ends. The part has its share of each
// label and nothing that is held out, and, if it is large, a head start of its own. The λ of a
// search there becomes that of all examples. After an error w is as it was.
func (l *run) headStart(ctx context.Context, w engine.Weights) (learners.Step, error) {
	n := len(l.problem.Y)
	parts := max(2, min(mostParts, (n+mostSearched-1)/mostSearched))
	some := which(folds(l.problem.Y, l.problem.Q, parts, l.problem.Seed^stream),
		func(f uint8) bool { return f == 0 })
	p, v := l.Params, w.Clone()
	p.Tolerance *= rough
	if l.state.Stage != searching {
		p.L2 = L2(l.state.Search.Lambda)
	}
	if l.state.Stage == crossfitting {
		p.Correction = Forward
		some = slices.DeleteFunc(some, func(i int) bool { return l.held[i] == 0 })
	}
	part, err := learn(ctx, &p, l.problem, some, v)
	if err != nil {
		return learners.Step{}, err
	}
	share := float64(len(some)) / float64(n)
	l.state.HeadStart, l.state.Short = true, l.state.Short || part.state.Short
	l.loss.evaluations += part.loss.evaluations * share
	if l.state.Stage == searching {
		l.found(part.state.Search.Lambda * share)
	}
	if err := l.beginFit(v.W); err != nil { // now, so that Count finds the scores there
		return learners.Step{}, err
	}
	copy(w.W, v.W)
	s := l.stepped(w)
	s.Fields = append(s.Fields, learners.Field{Name: "examples", Value: len(some)})
	return s, nil
}
