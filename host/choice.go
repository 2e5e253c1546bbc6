package host

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
)

// choice chooses the weights of a run by a rule: it sees the iterates, and keeps those that the
// rule needs.
type choice struct {
	rule       learners.Rule
	q, d       int
	sum        []float64      // Average, BestAverage: Σ of W after each step
	best       engine.Weights // Best, BestAverage: empty before the first count
	bestError  float64
	bestCounts []int64
}

func newChoice(rule learners.Rule, w engine.Weights) *choice {
	k := &choice{rule: rule, q: w.Q, d: w.D}
	if k.averages() {
		k.sum = make([]float64, w.Q*w.D)
	}
	return k
}

// chooses returns whether the rule keeps the weights of least estimated error.
func (k *choice) chooses() bool { return k.rule == learners.Best || k.rule == learners.BestAverage }

// averages returns whether the rule needs the sum of the iterates.
func (k *choice) averages() bool {
	return k.rule == learners.Average || k.rule == learners.BestAverage
}

// tries returns whether the average after the given steps is one to choose from: four binary
// digits and zeros write the number (clause 19). These are 1 to 16, then eight numbers up to each
// power of two.
func (k *choice) tries(steps int) bool {
	low := bits.Len(uint(steps)) - 4
	return k.rule == learners.BestAverage && steps > 0 && (low <= 0 || steps&(1<<low-1) == 0)
}

// iterate takes the estimated error of an iterate; of W_0 after no step.
func (k *choice) iterate(w engine.Weights, steps int, estimated float64, counts []int64) {
	if k.rule == learners.Best || k.rule == learners.BestAverage && steps == 0 {
		k.offer(w, estimated, counts)
	}
}

// converged takes the last iterate of a run that has converged: averages only come near to it.
func (k *choice) converged(w engine.Weights, estimated float64, counts []int64) {
	if k.rule == learners.BestAverage {
		k.offer(w, estimated, counts)
	}
}

// offer takes weights to choose from, and their estimated error.
func (k *choice) offer(w engine.Weights, estimated float64, counts []int64) {
	if k.best.W == nil || estimated < k.bestError {
		k.best, k.bestError, k.bestCounts = w.Clone(), estimated, slices.Clone(counts)
	}
}

// add takes an iterate that a step has just made.
func (k *choice) add(w engine.Weights) {
	if k.averages() {
		for i, v := range w.W {
			k.sum[i] += float64(v)
		}
	}
}

// average returns the mean of the iterates after the given number of steps.
func (k *choice) average(steps int) engine.Weights {
	w := engine.NewWeights(k.q, k.d)
	for i, s := range k.sum {
		w.W[i] = float32(s / float64(steps))
	}
	return w
}

// save enters the weights of k in s, and those that it would choose if the run ended at w.
func (k *choice) save(s *Snapshot, w engine.Weights) {
	if k.averages() && s.Steps > 0 {
		s.Sum = slices.Clone(k.sum)
	}
	switch {
	case k.chooses() && k.best.W != nil:
		estimate := k.bestError
		s.Kept, s.EstimatedError, s.Counts = k.best.Clone(), &estimate, slices.Clone(k.bestCounts)
	case k.rule == learners.Average && s.Steps > 0:
		s.Kept = k.average(s.Steps)
	default:
		s.Kept = w.Clone()
	}
}

// restore is the opposite of save.
func (k *choice) restore(s *Snapshot) error {
	if k.chooses() && s.EstimatedError != nil {
		if len(s.Kept.W) != k.q*k.d || len(s.Counts) != k.q*k.q {
			return fmt.Errorf("found %d best weights with %d counts, wanted %d×%d and %d×%d",
				len(s.Kept.W), len(s.Counts), k.q, k.d, k.q, k.q)
		}
		k.best = engine.Weights{Q: k.q, D: k.d, W: slices.Clone(s.Kept.W)}
		k.bestError, k.bestCounts = *s.EstimatedError, slices.Clone(s.Counts)
	}
	if k.averages() && s.Steps > 0 {
		if len(s.Sum) != k.q*k.d {
			return fmt.Errorf("found a sum of %d weights, wanted %d×%d", len(s.Sum), k.q, k.d)
		}
		copy(k.sum, s.Sum)
	}
	return nil
}
