package uma

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
)

// choice is what a step chooses among.
type choice struct {
	norms      []float32     // ‖z_pq‖², Q×Q
	allowed    []engine.Pair // by clause 7, by p, then q
	candidates []candidate   // those of them not yet tried
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
