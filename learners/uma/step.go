package uma

import (
	"context"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/internal/base"
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
		s.Doubts = base.EndInDoubt("try a smaller alpha, doubt or tol",
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

// move adds columns from..to-1 of z to the weights of class q and takes them off those of p
// (clause 9: fma by 1 and -1 rounds as + and - do).
func move(w engine.Weights, c engine.Pair, z []float32, from, to int) {
	wp, wq := w.Row(c.P), w.Row(c.Q)
	for j := from; j < to; j++ {
		wp[j] -= z[j]
		wq[j] += z[j]
	}
}

// room is how many numbers the update vectors have that a step computes at once, unless
// one has more: 16 MiB, where those of all pairs of 200 classes may take gigabytes.
const room = 4 << 20

// correct corrects those of pairs, which are in order of p, then q, that are mistakes of w
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
