package uma

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Step implements learners.Learner: lines 5 to 12 of Algorithm 2. A step is short, so it
// is finished even if the context is cancelled.
func (l *learner) Step(_ context.Context, w engine.Weights) (s learners.Step, err error) {
	if err := l.cells.Norms(l.norms, l.b); err != nil {
		return s, err
	}
	if err := l.collect(l.assignment.Regions); err != nil {
		return s, err
	}
	chosen, pairs := engine.Pair{}, l.allowed
	if l.Params.Step != StepAll {
		z, found, err := l.choose(&chosen, w)
		switch {
		case err != nil || !found:
			return l.done(), err
		case l.Params.Step == StepPair:
			move(w, chosen, z, 0, l.d)
			l.begun = true
			return l.report([]engine.Pair{chosen}), nil
		}
		pairs = slices.DeleteFunc(pairs, func(c engine.Pair) bool { return c.P != chosen.P })
	}
	done, err := l.correct(w, pairs)
	if err != nil || len(done) == 0 {
		return l.done(), err
	}
	l.begun = true
	return l.report(done), nil
}

// odd is the estimated error from which on it is odd that there is nothing left to correct.
const odd = 0.25

// done is the end of a run, with a doubt if much of what W predicts seems to be wrong.
func (l *learner) done() learners.Step {
	s := learners.Step{Done: true}
	if e := l.inverse.EstimatedError(l.assignment.Predicted, l.n); e >= odd {
		s.Doubts = learners.EndInDoubt("try a smaller alpha, doubt or tol",
			"uma: found no mistake left to correct, "+
				"though an estimated %.0f %% of the predictions are wrong", 100*e)
	}
	return s
}

// report describes a step that has corrected some pairs.
func (l *learner) report(pairs []engine.Pair) (s learners.Step) {
	changed, largest := make([]bool, l.q), pairs[0]
	for _, c := range pairs {
		changed[c.P], changed[c.Q] = true, true
		if l.norms[c.P*l.q+c.Q] > l.norms[largest.P*l.q+largest.Q] {
			largest = c
		}
	}
	for r, is := range changed {
		if is {
			s.Changed = append(s.Changed, r)
		}
	}
	s.Fields = []learners.Field{
		{Name: "pair", Value: largest},
		{Name: "‖z‖", Value: math.Sqrt(float64(l.norms[largest.P*l.q+largest.Q]))},
	}
	if l.Params.Step != StepPair {
		s.Fields = append(s.Fields, learners.Field{Name: "corrected", Value: len(pairs)})
	}
	s.Fields = append(s.Fields, learners.Field{Name: "moved", Value: l.assignment.Moved})
	return s
}

// choose finds the first pair in the order of clause 7 that is a mistake of w, and its
// update vector, which is good until the next one.
func (l *learner) choose(pair *engine.Pair, w engine.Weights) (z []float32, found bool, err error) {
	for {
		tried := l.next()
		if len(tried) == 0 {
			return nil, false, nil
		}
		if err := l.cells.UpdateVectors(l.z, tried, l.b); err != nil {
			return nil, false, err
		}
		for i, c := range tried {
			if z := l.z[i*l.d : (i+1)*l.d]; l.mistaken(c, z, w) {
				*pair = c
				return z, true, nil
			}
		}
	}
}

// mistaken says whether the error set of w has it that z_pq, of class q, is a mistake
// (clauses 8 and 18).
func (l *learner) mistaken(c engine.Pair, z []float32, w engine.Weights) bool {
	length := math.Sqrt(float64(l.norms[c.P*l.q+c.Q]))
	return numerics.Dot(z, w.Row(c.P))-numerics.Dot(z, w.Row(c.Q)) >= l.margin(length)
}

// move adds columns from..to-1 of z to the weights of class q and subtracts them from the weights
// of p (clause 9: fma by 1 and -1 rounds as + and - do).
func move(w engine.Weights, c engine.Pair, z []float32, from, to int) {
	wp, wq := w.Row(c.P), w.Row(c.Q)
	for j := from; j < to; j++ {
		wp[j] -= z[j]
		wq[j] += z[j]
	}
}

// room is how many numbers the update vectors have that a step computes at once, unless
// one has more: 16 MiB, where all pairs of 200 classes may take gigabytes.
const room = 4 << 20

// correct corrects the pairs, which are in order of p, then q, that are mistakes of w
// as it is before the step, and returns them (clause 17).
func (l *learner) correct(w engine.Weights, pairs []engine.Pair) (done []engine.Pair, err error) {
	l.before = append(l.before[:0], w.W...)
	before := engine.Weights{Q: w.Q, D: w.D, W: l.before}
	for batch := range slices.Chunk(pairs, max(1, l.room/l.d)) {
		l.z = slices.Grow(l.z[:0], len(batch)*l.d)[:len(batch)*l.d]
		if err := l.cells.UpdateVectors(l.z, batch, l.b); err != nil {
			return nil, err
		}
		is := make([]bool, len(batch))
		parallel.Ranges(len(batch), 1+20000/l.d, func(from, to int) {
			for i := from; i < to; i++ {
				is[i] = l.mistaken(batch[i], l.z[i*l.d:(i+1)*l.d], before)
			}
		})
		parallel.Ranges(l.d, 1+40000/len(batch), func(from, to int) {
			for i, c := range batch {
				if is[i] {
					move(w, c, l.z[i*l.d:(i+1)*l.d], from, to)
				}
			}
		})
		for i, c := range batch {
			if is[i] {
				done = append(done, c)
			}
		}
	}
	return done, nil
}

// choice is what a step chooses among.
type choice struct {
	norms      []float32     // ‖z_pq‖², Q×Q
	allowed    []engine.Pair // by clause 7, by p, then q
	candidates []candidate   // allowed pairs not yet tried
	tried      int
	z          []float32 // update vectors of the pairs under trial
}

// candidate is a pair that clause 7 allows.
type candidate struct {
	engine.Pair
	value float64 // what the rule wants largest
}

// collect fills l.allowed and l.candidates with the pairs that clause 7 allows, by p, then q.
func (l *learner) collect(regions []int64) error {
	l.allowed, l.candidates, l.tried = l.allowed[:0], l.candidates[:0], 0
	for p := range l.q {
		if slices.Max(regions[p*l.q:(p+1)*l.q]) == 0 {
			continue
		}
		for r := range l.q {
			norm2 := float64(l.norms[p*l.q+r])
			if math.IsNaN(norm2) || math.IsInf(norm2, 0) {
				return fmt.Errorf("uma: the norm of update vector (%d,%d) is %v: the features are too large "+
					"for float32; normalise them", p, r, norm2)
			}
			if p == r || !(norm2 > l.Tol*l.Tol) || !(norm2 > l.doubted(regions, p, r)) {
				continue
			}
			value := norm2
			if l.Select == SelectConfusion {
				value = norm2 / (l.priors[r] * l.priors[r])
			}
			l.allowed = append(l.allowed, engine.Pair{P: p, Q: r})
			l.candidates = append(l.candidates, candidate{engine.Pair{P: p, Q: r}, value})
		}
	}
	if l.Select != SelectRandom && l.Params.Step != StepAll {
		slices.SortStableFunc(l.candidates, func(a, b candidate) int {
			return cmp.Compare(b.value, a.value)
		})
	}
	return nil
}

// next removes from l.candidates the pairs to try next, in the order of clause 7, and makes room
// for their update vectors in l.z. Mostly the first pair will do; where it does not, a device
// answers sixteen questions sooner than sixteen times one. A random choice is not made before it is
// needed.
func (l *learner) next() (pairs []engine.Pair) {
	n := min(16, len(l.candidates))
	if n > 0 && l.Select == SelectRandom {
		drawn := l.rng.IntN(len(l.candidates))
		c := l.candidates[drawn]
		copy(l.candidates[1:], l.candidates[:drawn])
		l.candidates[0], n = c, 1
	} else if l.tried == 0 {
		n = min(1, n)
	}
	for _, c := range l.candidates[:n] {
		pairs = append(pairs, c.Pair)
	}
	l.candidates = l.candidates[n:]
	l.tried += n
	l.z = slices.Grow(l.z[:0], n*l.d)[:n*l.d]
	return pairs
}

// labelNoise is how long wrong labels alone make update vectors (clause 18).
type labelNoise struct {
	b2     []float64 // B²-B in float64, Q×Q; nil if nothing is doubted or labels are right
	square float64   // mean of ‖x‖² over the examples, divided by n
}

// doubtWrong finds how long wrong labels alone make update vectors (clause 18), unless nothing is
// doubted.
func (l *learner) doubtWrong(x dataset.Examples) {
	if l.Doubt == 0 {
		return
	}
	b2 := make([]float64, len(l.inverse.V))
	for i, b := range l.inverse.V {
		b2[i] = float64(b*b) - b
	}
	if !slices.ContainsFunc(b2, func(v float64) bool { return v != 0 }) {
		return
	}
	l.b2 = b2
	for _, square := range parallel.BlockSums(x.N, 1, func(i, _ int) float64 {
		_, values := x.Entries(i)
		return learners.SquaredLength(values)
	}) {
		l.square += square
	}
	l.square /= float64(x.N)
	l.square /= float64(x.N)
}

// doubted returns ‖z_pr‖² of clause 18, up to which the vector may be the work of wrong labels
// alone: z_pr sums B[r][y]·x over region p, and B[r][y] is 1 or 0 on average over the noisy
// labels y of an example, as its true class is r or not, with a variance whose sum over the
// region is estimated by Σ_y N[p][y]·(B[r][y]²-B[r][y]).
func (l *learner) doubted(regions []int64, p, r int) float64 {
	if l.b2 == nil {
		return 0
	}
	sum := 0.0
	for k, b2 := range l.b2[r*l.q : (r+1)*l.q] {
		sum += float64(float64(regions[p*l.q+k])*b2) / float64(l.n)
	}
	return float64(l.Doubt*l.Doubt) * sum * l.square
}
