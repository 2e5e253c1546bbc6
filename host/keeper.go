package host

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
)

// keeper watches the iterates of a run and keeps what its rule needs of them.
type keeper struct {
	rule       learners.Rule
	q, d       int
	sum        []float64      // Average, BestAverage: Σ of W after each step
	best       engine.Weights // Best, BestAverage: empty before the first count
	bestError  float64
	bestCounts []int64
}

func newKeeper(rule learners.Rule, w engine.Weights) *keeper {
	k := &keeper{rule: rule, q: w.Q, d: w.D}
	if k.averages() {
		k.sum = make([]float64, w.Q*w.D)
	}
	return k
}

// chooses says whether the rule is one that keeps the weights of least estimated error.
func (k *keeper) chooses() bool { return k.rule == learners.Best || k.rule == learners.BestAverage }

// averages says whether the rule needs the sum of the iterates.
func (k *keeper) averages() bool { return k.rule == learners.Average || k.rule == learners.BestAverage }

// judges says whether the average after so many steps is one to choose from: so many that
// four binary digits and zeros write the number (clause 19), which is 1 to 16, then eight
// numbers up to each power of two.
func (k *keeper) judges(steps int) bool {
	low := bits.Len(uint(steps)) - 4
	return k.rule == learners.BestAverage && steps > 0 && (low <= 0 || steps&(1<<low-1) == 0)
}

// assigned sees the estimated error of an iterate: after no step, of W_0.
func (k *keeper) assigned(w engine.Weights, steps int, estimated float64, counts []int64) {
	if k.rule == learners.Best || k.rule == learners.BestAverage && steps == 0 {
		k.judged(w, estimated, counts)
	}
}

// converged sees the last iterate of a run whose learner has found nothing left to improve,
// which averages only come near to.
func (k *keeper) converged(w engine.Weights, estimated float64, counts []int64) {
	if k.rule == learners.BestAverage {
		k.judged(w, estimated, counts)
	}
}

// judged sees the estimated error of weights to choose from.
func (k *keeper) judged(w engine.Weights, estimated float64, counts []int64) {
	if k.best.W == nil || estimated < k.bestError {
		k.best, k.bestError, k.bestCounts = w.Clone(), estimated, slices.Clone(counts)
	}
}

// stepped sees an iterate that a step has just made.
func (k *keeper) stepped(w engine.Weights) {
	if k.averages() {
		for i, v := range w.W {
			k.sum[i] += float64(v)
		}
	}
}

// average returns the mean of the iterates after each of so many steps.
func (k *keeper) average(steps int) engine.Weights {
	w := engine.NewWeights(k.q, k.d)
	for i, s := range k.sum {
		w.W[i] = float32(s / float64(steps))
	}
	return w
}

// save enters what k has kept, and what it would keep of a run that ended at w.
func (k *keeper) save(s *Snapshot, w engine.Weights) {
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
func (k *keeper) restore(s *Snapshot) error {
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
