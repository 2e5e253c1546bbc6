package fit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

// heldFolds is the number of folds of a search for λ. Each is held out in turn, until about
// mostJudged examples have been judged. Of many features, where a fit takes long, folds are larger.
const (
	searchFolds = 5
	mostJudged  = 2000
)

// The path of a search: pathLength penalties, mostLambda and each a third of the one before it, in
// units of the mean squared length of an example, so that the features' scale does not matter. The
// path goes down. But where C is not the identity the loss is not convex: a large penalty may have
// its minimum where some classes have swallowed their neighbours, and a path that comes from there
// stays there. So the best λ is tried from W = 0 too. If that is clearly better, the search begins
// again at midPath, goes up, and goes down from there.
//
// A path ends where the loss is above the least by clearlyWorse standard errors: where labels are
// many and wrong the loss of small penalties may fall again, when the model has learned them by
// heart. Of many features, where a fit takes long and labels held out hardly tell small penalties
// apart, it ends too where the loss gains less than flat standard errors and no label. Of those
// whose loss is within tolerated standard errors of the least, the λ is taken that predicts most
// labels, and the largest of equals: with the best temperature, losses differ little where labels
// are right.
const (
	mostLambda   = 2e-3
	pathFactor   = 1.0 / 3
	pathLength   = 10
	midPath      = 7
	clearlyWorse = 2
	flat         = 0.25
	tolerated    = 0.1
)

// searchPenalty is a search for a penalty, or as much of it as has been made.
type search struct {
	From  float64          // the first λ of the path
	Start int              // the place on the path where each fold begins
	Flat  bool             // the path ends where it is flat
	Doubt bool             // the best λ is to be tried from W = 0
	Fold  int              // that is held out
	Tried []learners.Trial // what became of each λ of the path, in all folds so far; nothing of some

	Least   float64        // the least loss of the last fold
	LeastAt int            // and its place
	BestW   softmax.Floats // the weights of this fold under the λ that would be taken now
}

// tried is a fit and what became of it.
type tried struct {
	W     softmax.Floats
	Trial learners.Trial
}

// newSearch returns a search that begins at a place of the path whose first penalty is from.
func newSearch(from float64, start int) search {
	return search{From: from, Start: start, Tried: make([]learners.Trial, pathLength)}
}

// lambda returns the penalty at a place of the path.
func (s *search) lambda(at int) float64 {
	lambda := s.From
	for range at {
		lambda *= pathFactor
	}
	return lambda
}

// none is the previous place of a fit that continues from no other fit.
const none = -1

// fold searches in the fold that is held out, from weights w. fit fits the λ of a place from
// weights, going on from the fit of the place before. It reports whether the search has to begin
// again.
func (s *search) fold(w []float32, fit func(at int, from []float32, before int) (tried, error),
) (again bool, err error) {
	s.Least, s.BestW = 0, nil
	at, before := s.Start, none
	last, err := fit(at, w, before)
	if err != nil {
		return false, err
	}
	first, ends := last.W, s.judge(at, last)
	for s.goes(at-1, ends) { // up
		if last, err = fit(at-1, last.W, at); err != nil {
			return false, err
		}
		at--
		ends = s.judge(at, last)
	}
	from := last.W
	if before = at; at != s.Start {
		from, before = first, none
	}
	if at = s.Start; at > 0 {
		ends = last.Trial.Weight == 0
	}
	for s.goes(at+1, ends) { // down
		if last, err = fit(at+1, from, before); err != nil {
			return false, err
		}
		at++
		from, before = last.W, at
		ends = s.judge(at, last)
	}
	if !s.Doubt {
		return false, nil
	}
	s.Doubt = false
	if last, err = fit(s.LeastAt, make([]float32, len(w)), none); err != nil {
		return false, err
	}
	loss, deviation := last.Trial.Mean()
	return loss < s.Least-float64(clearlyWorse*deviation), nil
}

// judge takes what became of the λ of a place in the fold that is held out, and reports whether
// the path ends there.
func (s *search) judge(at int, fit tried) (ends bool) {
	t := fit.Trial
	loss, deviation := t.Mean()
	ends = t.Weight == 0 || s.BestW != nil && (loss > s.Least+float64(clearlyWorse*deviation) ||
		s.Flat && loss > s.Least-float64(flat*deviation) && t.Missed >= s.leastMissed())
	s.Tried[at].Join(&t)
	if s.BestW == nil || loss < s.Least {
		s.Least, s.LeastAt = loss, at
	}
	if s.BestW == nil || s.best() == s.lambda(at) {
		s.BestW = fit.W
	}
	return ends
}

// leastMissed returns the least weight of missed labels of a λ.
func (s *search) leastMissed() float64 {
	least := math.Inf(1)
	for k := range s.Tried {
		if t := &s.Tried[k]; t.Weight > 0 {
			least = min(least, t.Missed)
		}
	}
	return least
}

// goes reports whether the path continues to a place: it ends where the first fold has ended.
func (s *search) goes(at int, ends bool) bool {
	return at >= 0 && at < pathLength && !(s.Fold == 0 && ends) &&
		!(s.Fold > 0 && s.Tried[at].Weight == 0)
}

// best returns the λ that is taken.
func (s *search) best() float64 { return s.lambda(s.bestAt()) }

// bestAt returns its place.
func (s *search) bestAt() int {
	least, deviation := s.Tried[s.Start].Mean()
	for k := range s.Tried {
		if loss, d := s.Tried[k].Mean(); s.Tried[k].Weight > 0 && loss < least {
			least, deviation = loss, d
		}
	}
	best, missed := s.Start, math.Inf(1)
	for k := range s.Tried {
		t := &s.Tried[k]
		if loss, _ := t.Mean(); t.Weight > 0 && loss <= least+float64(tolerated*deviation) &&
			t.Missed < missed {
			best, missed = k, t.Missed
		}
	}
	return best
}

// penalty is what became of a search.
type penalty struct {
	Lambda float64
	W      softmax.Floats // where the next fit begins
	Cut    bool           // time was short
}

// findPenalty returns the λ that is given or found, and where the fit with it begins.
func findPenalty(ctx context.Context, r *training, w []float32) (float64, []float32, error) {
	if !r.L2.Search {
		return r.L2.Lambda, w, nil
	}
	squared := meanSquared(r.problem.X, r.problem.Bias)
	if r.Correction == learners.EM {
		return softLambda * squared / r.problem.Weight(), w, nil
	}
	r.stage, r.lambda = searching, mostLambda*squared
	_, begun, err := recall[penalty](&r.memo, headStarted)
	if err != nil {
		return 0, nil, err
	}
	if begun || len(r.problem.Y) > mostSearched && !r.short && mayHeadStart(r) {
		w, lambda, err := headStart(ctx, r, w, nil)
		return lambda, w, err
	}
	found, err := remember(&r.memo, "penalty", func() (penalty, error) {
		s := newSearch(mostLambda*squared, 0)
		s.Doubt = !isConvex(r) && r.problem.X.D <= softmax.MostFactored
		s.Flat = r.problem.X.D > softmax.MostFactored
		err := searchPenalty(ctx, r, &s, w)
		switch {
		case errors.Is(err, errShort) && s.BestW == nil: // the λ of EM
			return penalty{Lambda: softLambda * squared / r.problem.Weight(), W: slices.Clone(r.w),
					Cut: true},
				nil
		case errors.Is(err, errShort):
			return penalty{Lambda: s.best(), W: s.BestW, Cut: true}, nil
		case err != nil:
			return penalty{}, err
		}
		return penalty{Lambda: s.best(), W: s.BestW}, nil
	})
	r.lambda, r.cut = found.Lambda, r.cut || found.Cut
	return found.Lambda, found.W, err
}

// searchPenalty makes the search s.
func searchPenalty(ctx context.Context, r *training, s *search, w []float32) error {
	const folds = "penalty/folds"
	if made, ok, err := recall[search](&r.memo, folds); err != nil {
		return err
	} else if ok {
		*s, w = made, make([]float32, len(w))
	}
	count, most := heldFolds(r)
	held := deal(r, count)
	for s.Fold < most {
		fits := 0
		again, err := s.fold(w, func(at int, from []float32, before int) (tried, error) {
			fits++
			return tryPenalty(ctx, r, fmt.Sprintf("%s/%d", folds, fits), s, held, at, from, before)
		})
		if err != nil {
			return err
		}
		if s.Fold++; again {
			*s = newSearch(s.From, midPath)
		}
		if err := r.memo.keep(folds, *s); err != nil {
			return err
		}
		w = make([]float32, len(w))
	}
	return nil
}

// tryPenalty fits the λ of a place without the fold that is held out, and judges it there.
func tryPenalty(ctx context.Context, r *training, key string, s *search, held []int, at int,
	from []float32, before int) (tried, error) {
	g := softmax.Goal{Aim: fmt.Sprintf("search %d", s.Fold), Targets: r.solver.Labels.Targets,
		Held:    held,
		Without: s.Fold, Lambda: s.lambda(at), Most: roughly(r), Share: r.Tolerance * rough}
	if g.Warm = before != none; g.Warm {
		g.Before = s.lambda(before)
	}
	return remember(&r.memo, key, func() (t tried, err error) {
		if t.W, err = r.fit(ctx, key, g, from); err != nil {
			return t, err
		}
		powers := make([]float64, 4*r.problem.Q)
		err = scoreFold(r, t.W, held, s.Fold, func(i int, scores []float32) {
			u := 1.0
			if r.solver.Labels.Targets.Weight != nil {
				u = float64(r.solver.Labels.Targets.Weight[i])
			}
			var known []float32
			if r.solver.Labels.Classes != nil {
				known = r.solver.Labels.Classes[i*len(scores) : (i+1)*len(scores)]
			}
			t.Trial.Add(u, r.problem.Y[i], scores, r.solver.Labels.Likelihood(i, r.problem.Q), known,
				r.solver.Labels.Targets.Given, powers)
		})
		return t, err
	})
}

// heldFolds returns the number of folds of a search, and how many it holds out.
func heldFolds(r *training) (count, held int) {
	n := len(r.problem.Y)
	if count = searchFolds; r.problem.X.D > softmax.MostFactored {
		count = max(2, min(count, n/mostJudged))
	}
	each := max(1, n/count)
	return count, max(1, min(count, (mostJudged+each/2)/each))
}

// meanSquared returns the mean squared length of the examples without the bias column; 1 if
// they are all 0. The sums are in float64, each of rowsPerSum examples in order.
func meanSquared(x dataset.Examples, bias bool) float64 {
	const rowsPerSum = 1024
	sum := 0.0
	for _, part := range parallel.BlockSums(x.N, rowsPerSum, func(from, to int) (part float64) {
		for i := from; i < to; i++ {
			columns, values := x.Entries(i)
			last := len(values) - 1
			if bias && last >= 0 && (columns == nil || int(columns[last]) == x.D-1) {
				values = values[:last]
			}
			for _, v := range values {
				part += float64(v) * float64(v) // exact, so that fused or not is the same
			}
		}
		return part
	}) {
		sum += part
	}
	if sum == 0 {
		return 1
	}
	return sum / float64(x.N)
}
