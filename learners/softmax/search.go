package softmax

import (
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// searchFolds is the number of folds of a search for λ. Each is held out in turn, until about
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

// temperatures are what scores are multiplied by before their loss is taken, each twice the second
// one before it. Each λ is judged with the one that suits it best: too small a λ makes the model
// too sure, and too large a one not sure enough, which says little of its decisions.
var temperatures = [...]float32{0.25, 0.35355338, 0.5, 0.70710677, 1, 1.4142135, 2, 2.828427, 4,
	5.656854, 8}

// search is the search for a penalty. Each fit of a fold goes on from the weights of the one
// before it.
type search struct {
	Lambda  float64   // of the fit under way, or of all after the search
	From    float64   // the first λ of the path
	Fold    int       // that is held out
	Start   int       // the place on the path where each fold begins
	Flat    bool      // the path ends where it is flat
	Doubt   bool      // the best λ is still to be tried from W = 0
	Again   bool      // it is under way
	At      int       // the place of λ
	Down    bool      // the way from Start up has ended
	StartW  []float32 // the weights of this fold at Start
	Tried   []trial   // what became of each λ of the path, of all folds so far; nothing of some
	Least   float64   // the least loss of this fold
	LeastAt int       // and its place
	BestW   []float32 // the weights of this fold under the λ that would be taken now
}

// trial is what became of a penalty on the examples held out.
type trial struct {
	Weight float64 // of the examples
	Missed float64 // the weight of those whose label is not the likeliest class

	Losses, Squares [len(temperatures)]float64 // sums of the corrected losses, and of their squares
}

// mean returns the least mean loss that a temperature may give, where a parabola through the best
// three has it, and its standard error.
func (t *trial) mean() (loss, deviation float64) {
	if t.Weight == 0 {
		return 0, 0
	}
	best := 0
	for k, v := range t.Losses {
		if v < t.Losses[best] {
			best = k
		}
	}
	loss = t.Losses[best] / t.Weight
	variance := t.Squares[best]/t.Weight - float64(loss*loss)
	if best > 0 && best < len(temperatures)-1 {
		before, after := t.Losses[best-1]-t.Losses[best], t.Losses[best+1]-t.Losses[best]
		if bend := before + after; bend > 0 {
			loss -= float64((after-before)*(after-before)) / (8 * bend * t.Weight)
		}
	}
	return loss, math.Sqrt(max(0, variance) / t.Weight)
}

// add counts an example of scores s, weight u and label y, which has the likelihood, as logarithms,
// with each class. known, if not nil, is what else is known of its class, as a distribution if
// given. powers is a place for four numbers of each class.
func (t *trial) add(u float64, y int32, s, likelihood, known []float32, given bool,
	powers []float64) {
	t.Weight += u
	q, most := len(s), slices.Max(s)
	if known != nil {
		t.Missed += float64(u * (1 - min(1, hit(known, s))))
	} else if s[y] != most {
		t.Missed += u
	}
	label, now := powers[2*q:3*q], powers[3*q:]
	for k, v := range s {
		powers[k] = float64(numerics.Exp(temperatures[0] * (v - most)))
		powers[q+k] = float64(numerics.Exp(temperatures[1] * (v - most)))
		label[k] = float64(numerics.Exp(likelihood[k]))
	}
	for e := range temperatures {
		p := powers[e%2*q:][:q] // each second temperature is twice the one before it
		if known != nil {
			copy(now, p)
		}
		var all, those float64
		for k, v := range p {
			all += v
			those += float64(v * label[k])
			p[k] = float64(v * v)
		}
		loss := float64(numerics.MostLoss)
		if f := float32(those / all); f >= 0x1p-126 {
			loss = -float64(numerics.Log(f))
		}
		if known != nil && given {
			loss = crossEntropy(known, now, all)
		}
		t.Losses[e] += float64(u * loss)
		t.Squares[e] += float64(float64(u*loss) * loss)
	}
}

// newSearch returns a search that begins at a place of the path whose first penalty is from.
func newSearch(from float64, start int, doubt bool) search {
	s := search{From: from, Start: start, At: start, Doubt: doubt, Tried: make([]trial, pathLength)}
	s.Lambda = s.lambda(start)
	return s
}

// lambda returns the penalty at a place of the path.
func (s *search) lambda(at int) float64 {
	lambda := s.From
	for range at {
		lambda *= pathFactor
	}
	return lambda
}

// judge takes what became of the fit under way and its weights, and goes on to the next λ or fold,
// or returns false and takes the λ that is best. from is where the next fit begins.
func (s *search) judge(t trial, w []float32, folds int) (from []float32, more bool) {
	loss, deviation := t.mean()
	if s.Again {
		if s.Again = false; loss < s.Least-float64(clearlyWorse*deviation) {
			*s = newSearch(s.From, midPath, false)
			return make([]float32, len(w)), true
		}
		return s.nextFold(len(w), folds)
	}
	ends := t.Weight == 0 || s.BestW != nil && (loss > s.Least+float64(clearlyWorse*deviation) ||
		s.Flat && loss > s.Least-float64(flat*deviation) && t.Missed >= s.leastMissed())
	sum := &s.Tried[s.At]
	sum.Weight += t.Weight
	sum.Missed += t.Missed
	for e := range temperatures {
		sum.Losses[e] += t.Losses[e]
		sum.Squares[e] += t.Squares[e]
	}
	if s.BestW == nil || loss < s.Least {
		s.Least, s.LeastAt = loss, s.At
	}
	if s.BestW == nil || s.best() == s.Lambda {
		s.BestW = w
	}
	if s.At == s.Start {
		s.StartW = w
	}
	if !s.Down {
		if s.goes(s.At-1, ends) {
			return w, true
		}
		if s.Down = true; s.Start > 0 {
			s.At, w, ends = s.Start, s.StartW, t.Weight == 0
		}
	}
	if s.goes(s.At+1, ends) {
		return w, true
	}
	if s.Doubt {
		s.Doubt, s.Again = false, true
		s.At, s.Lambda = s.LeastAt, s.lambda(s.LeastAt)
		return make([]float32, len(w)), true
	}
	return s.nextFold(len(w), folds)
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

// nextFold goes on to the next fold, whose weights, size of them, begin from 0, or ends the search.
func (s *search) nextFold(size, folds int) (from []float32, more bool) {
	if s.Fold++; s.Fold < folds {
		s.At, s.Lambda, s.Down = s.Start, s.lambda(s.Start), false
		s.Least, s.BestW, s.StartW = 0, nil, nil
		return make([]float32, size), true
	}
	s.Lambda = s.best()
	return s.BestW, false
}

// goes moves on to a place of the path, unless the first fold ended before it.
func (s *search) goes(at int, ends bool) bool {
	if at < 0 || at == pathLength || s.Fold == 0 && ends || s.Fold > 0 && s.Tried[at].Weight == 0 {
		return false
	}
	s.At, s.Lambda = at, s.lambda(at)
	return true
}

// best returns the λ that is taken.
func (s *search) best() float64 { return s.lambda(s.bestAt()) }

// bestAt returns its place.
func (s *search) bestAt() int {
	least, deviation := s.Tried[s.Start].mean()
	for k := range s.Tried {
		if loss, d := s.Tried[k].mean(); s.Tried[k].Weight > 0 && loss < least {
			least, deviation = loss, d
		}
	}
	best, missed := s.Start, math.Inf(1)
	for k := range s.Tried {
		t := &s.Tried[k]
		if loss, _ := t.mean(); t.Weight > 0 && loss <= least+float64(tolerated*deviation) &&
			t.Missed < missed {
			best, missed = k, t.Missed
		}
	}
	return best
}

// endSearch ends a search before its end: it takes the best λ so far, or without any that of EM,
// and moves w to the weights of that trial.
func (l *run) endSearch(w []float32) (moved bool) {
	s := &l.state.Search
	s.Lambda = softLambda * (s.From / mostLambda) / count(l.problem)
	if s.BestW != nil {
		s.Lambda = s.best()
	}
	if moved = s.BestW != nil; moved {
		copy(w, s.BestW)
	}
	l.state.Made, l.state.Pairs, l.state.Short, l.min, l.aimed = 0, nil, true, nil, false
	l.found(s.Lambda)
	return moved
}

// searchFolds returns the number of folds of a search, and how many it holds out.
func (l *run) searchFolds() (count, held int) {
	n := len(l.problem.Y)
	if count = searchFolds; l.problem.X.D > mostFactored {
		count = max(2, min(count, n/mostJudged))
	}
	each := max(1, n/count)
	return count, max(1, min(count, (mostJudged+each/2)/each))
}

// meanSquared returns the mean squared length of the examples without the bias column; 1 if
// they are all 0. The sums are in float64, each of rowsPerSum examples in order.
func meanSquared(x dataset.Stored, bias bool) float64 {
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
