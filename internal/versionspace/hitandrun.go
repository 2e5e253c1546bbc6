package versionspace

import (
	"math"
	"math/rand/v2"
	"slices"
)

// hitAndRun is a point w that jumps.
type hitAndRun struct {
	s      *Space
	random *rand.Rand
	w, v   []float64
}

func newHitAndRun(s *Space, start []float64, random *rand.Rand) *hitAndRun {
	return &hitAndRun{s: s, random: random, w: slices.Clone(start), v: make([]float64, s.d)}
}

func (h *hitAndRun) walk(steps int, sum []float64) (weight float64) {
	for range steps {
		direct(h.v, h.random)
		from, to := h.chord()
		addScaled(sum, 1, h.w)
		addScaled(sum, (from+to)/2, h.v)
		addScaled(h.w, from+float64(h.random.Float64()*(to-from)), h.v)
	}
	return float64(steps)
}

// chord returns between which times w + t·v is in the space, from ≤ 0 ≤ to.
func (h *hitAndRun) chord() (from, to float64) {
	wv := dot(h.w, h.v)
	root := math.Sqrt(max(float64(wv*wv)+(1-dot(h.w, h.w)), 0))
	from, to = -wv-root, root-wv
	for k := range h.s.m {
		c := h.s.row(k)
		speed := dot(c, h.v)
		if speed == 0 {
			continue
		}
		if t := -dot(c, h.w) / speed; speed < 0 {
			to = min(to, t)
		} else {
			from = max(from, t)
		}
	}
	return min(from, 0), max(to, 0)
}
