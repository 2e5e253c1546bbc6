package host

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/engine"
)

// keeper watches the iterates of a run and keeps what its rule needs of them.
type keeper struct {
	rule       Rule
	q, d       int
	sum        []float64 // Average: Σ of W after each step
	best       engine.Weights
	bestError  float64
	bestCounts []int64
}

func newKeeper(rule Rule, q, d int) (*keeper, error) {
	k := &keeper{rule: rule, q: q, d: d}
	switch rule {
	case "":
		k.rule = Best
	case Average:
		k.sum = make([]float64, q*d)
	case Last, Best:
	default:
		return nil, fmt.Errorf("run: weights %q are not known; use last, average or best", rule)
	}
	return k, nil
}

// assigned sees the estimated error of an iterate.
func (k *keeper) assigned(w engine.Weights, estimated float64, counts []int64) {
	if k.rule == Best && (k.best.W == nil || estimated < k.bestError) {
		k.best, k.bestError, k.bestCounts = w.Clone(), estimated, counts
	}
}

// stepped sees an iterate that a step has just made.
func (k *keeper) stepped(w engine.Weights) {
	if k.rule == Average {
		for i, v := range w.W {
			k.sum[i] += float64(v)
		}
	}
}

func (k *keeper) average(steps int) engine.Weights {
	w := engine.NewWeights(k.q, k.d)
	for i, s := range k.sum {
		w.W[i] = float32(s / float64(steps))
	}
	return w
}
