package host

import (
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
)

// keeper watches the iterates of a run and keeps what its rule needs of them.
type keeper struct {
	rule       learners.Rule
	q, d       int
	sum        []float64      // Average: Σ of W after each step
	best       engine.Weights // Best: empty before the first count
	bestError  float64
	bestCounts []int64
}

func newKeeper(rule learners.Rule, w engine.Weights) *keeper {
	k := &keeper{rule: rule, q: w.Q, d: w.D}
	if rule == learners.Average {
		k.sum = make([]float64, w.Q*w.D)
	}
	return k
}

// assigned sees the estimated error of an iterate.
func (k *keeper) assigned(w engine.Weights, estimated float64, counts []int64) {
	if k.rule == learners.Best && (k.best.W == nil || estimated < k.bestError) {
		k.best, k.bestError, k.bestCounts = w.Clone(), estimated, slices.Clone(counts)
	}
}

// stepped sees an iterate that a step has just made.
func (k *keeper) stepped(w engine.Weights) {
	if k.rule == learners.Average {
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
	switch {
	case k.rule == learners.Best && k.best.W != nil:
		estimate := k.bestError
		s.Kept, s.EstimatedError, s.Counts = k.best.Clone(), &estimate, slices.Clone(k.bestCounts)
	case k.rule == learners.Average && s.Steps > 0:
		s.Kept, s.Sum = k.average(s.Steps), slices.Clone(k.sum)
	default:
		s.Kept = w.Clone()
	}
}

// restore is the opposite of save.
func (k *keeper) restore(s *Snapshot) error {
	switch {
	case k.rule == learners.Best && s.EstimatedError != nil:
		if len(s.Kept.W) != k.q*k.d || len(s.Counts) != k.q*k.q {
			return fmt.Errorf("found %d best weights with %d counts, wanted %d×%d and %d×%d",
				len(s.Kept.W), len(s.Counts), k.q, k.d, k.q, k.q)
		}
		k.best = engine.Weights{Q: k.q, D: k.d, W: slices.Clone(s.Kept.W)}
		k.bestError, k.bestCounts = *s.EstimatedError, slices.Clone(s.Counts)
	case k.rule == learners.Average && s.Steps > 0:
		if len(s.Sum) != k.q*k.d {
			return fmt.Errorf("found a sum of %d weights, wanted %d×%d", len(s.Sum), k.q, k.d)
		}
		copy(k.sum, s.Sum)
	}
	return nil
}
