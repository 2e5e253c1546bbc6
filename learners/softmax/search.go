package softmax

import (
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// searchFolds is the number of folds of a search for λ. Each is held out in turn, until about
// mostJudged examples have been judged. Of many features, where a fit takes long, folds are larger.
const (
	searchFolds = 5
	mostJudged  = 3000
)

// The path of a search: penalties from mostLambda on, each a third of the one before it, in units
// of the mean squared length of an example, so that the features' scale does not matter. It ends
// after pathLength, or where the loss is above the least by clearlyWorse standard errors: smaller
// penalties take longer, and where labels are many and wrong their loss may fall again, when the
// model has learned them by heart. Of those whose loss is within tolerated standard errors of the
// least, the λ is taken that predicts most labels, and the largest of equals: with the best
// temperature, losses differ little where labels are right.
const (
	mostLambda   = 2e-3
	pathFactor   = 1.0 / 3
	pathLength   = 10
	clearlyWorse = 2
	tolerated    = 0.1
)

// temperatures is the number of factors, each √2 times the one before it, by which scores are
// multiplied before their loss is taken. Each λ is judged with the one that suits it best: too small a
// λ makes the model too sure, and too large a one not sure enough, which says little of its decisions.
const temperatures = 11

// lowest are the least two factors. Powers of two times them are the others.
var lowest = [2]float32{0.25, 0.35355338}

// search is the search for a penalty. Each fit of a fold goes on from the weights of the one
// before it.
type search struct {
	Lambda float64   // of the fit under way, or of all after the search
	From   float64   // the first λ of the path
	Fold   int       // that is held out
	At     int       // the place of λ on the path
	Ended  bool      // the path is as long as Tried
	Tried  []trial   // what became of each λ of the path, of all folds so far
	Least  float64   // the least loss of this fold
	BestW  []float32 // and its weights
}

// trial is what became of a penalty on the examples held out.
type trial struct {
	Weight          float64               // of the examples
	Missed          float64               // the weight of those whose label is not the likeliest class
	Losses, Squares [temperatures]float64 // sums of the corrected losses, and of their squares
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
	if best > 0 && best < temperatures-1 {
		before, after := t.Losses[best-1]-t.Losses[best], t.Losses[best+1]-t.Losses[best]
		if bend := before + after; bend > 0 {
			loss -= float64((after-before)*(after-before)) / (8 * bend * t.Weight)
		}
	}
	return loss, math.Sqrt(max(0, variance) / t.Weight)
}

// add counts an example of scores s, weight u and label y, which has the likelihood with each class.
// e and c are places for as many numbers.
func (t *trial) add(u float64, y int32, s, likelihood []float32, e, c []float64) {
	t.Weight += u
	most := slices.Max(s)
	if s[y] != most {
		t.Missed += u
	}
	possible := float32(math.Inf(-1)) // the largest score of a class with which the label is possible
	for k, v := range likelihood {
		if c[k] = float64(numerics.Exp(v)); c[k] > 0 {
			possible = max(possible, s[k])
		}
	}
	for first, f := range lowest {
		for k, v := range s {
			e[k] = float64(numerics.Exp(f * (v - most)))
		}
		for at := first; at < temperatures; at += len(lowest) {
			sum, label := 0.0, 0.0
			for k, v := range e {
				sum += v
				label += float64(v * c[k])
				e[k] = float64(v * v)
			}
			loss := float64(f * (most - possible))
			if label > 1e-300 {
				loss = logarithm(sum) - logarithm(label)
			}
			if !(loss <= numerics.MostLoss) {
				loss = numerics.MostLoss
			}
			t.Losses[at] += float64(u * loss)
			t.Squares[at] += float64(float64(u*loss) * loss)
			f *= 2
		}
	}
}

// logarithm returns the natural logarithm of a normal positive v, to a float32's precision.
func logarithm(v float64) float64 {
	fraction, exponent := math.Frexp(v)
	return float64(numerics.Log(float32(fraction))) + float64(math.Ln2*float64(exponent))
}

// judge takes what became of the fit under way and its weights, and goes on to the next λ or fold,
// or returns false and takes the λ that is best. from is where the next fit begins.
func (s *search) judge(t trial, w []float32, folds int) (from []float32, more bool) {
	if s.At == len(s.Tried) {
		s.Tried = append(s.Tried, trial{})
	}
	sum := &s.Tried[s.At]
	sum.Weight += t.Weight
	sum.Missed += t.Missed
	for e := range temperatures {
		sum.Losses[e] += t.Losses[e]
		sum.Squares[e] += t.Squares[e]
	}
	loss, deviation := t.mean()
	if s.BestW == nil || loss < s.Least {
		s.Least, s.BestW = loss, w
	}
	s.At++
	worse := loss > s.Least+float64(clearlyWorse*deviation)
	if s.Fold == 0 && (s.At == pathLength || worse || t.Weight == 0) {
		s.Ended = true
	}
	if !s.Ended || s.At < len(s.Tried) {
		s.Lambda *= pathFactor
		return w, true
	}
	if s.Fold++; s.Fold < folds {
		s.At, s.Lambda, s.Least, s.BestW = 0, s.From, 0, nil
		return make([]float32, len(w)), true
	}
	s.Lambda = s.best()
	return s.BestW, false
}

// best returns the λ that is taken.
func (s *search) best() float64 {
	least, deviation := s.Tried[0].mean()
	for k := range s.Tried {
		if loss, d := s.Tried[k].mean(); loss < least {
			least, deviation = loss, d
		}
	}
	lambda, best, missed := s.From, s.From, math.Inf(1)
	for k := range s.Tried {
		t := &s.Tried[k]
		if loss, _ := t.mean(); loss <= least+float64(tolerated*deviation) && t.Missed < missed {
			best, missed = lambda, t.Missed
		}
		lambda *= pathFactor
	}
	return best
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
	for _, part := range x.RowSums(rowsPerSum, func(from, to int) (part float64) {
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
