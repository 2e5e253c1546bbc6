package versionspace

import (
	"fmt"
	"math"
	"slices"
)

const (
	emptyBelow = 1e-10 // margins that rounding could have made of nothing
	gapBelow   = 1e-9  // between the margin that was reached and a bound on all margins
)

// Ball is the largest ball inside a version space.
type Ball struct {
	Centre []float64 // of d numbers, the caller's; on the axis of the largest margin
	Radius float64   // above 0, up to 1

	// Margin is the largest min_k ⟨w, c_k⟩/‖c_k‖ that a w of length 1 has, and Centre/‖Centre‖ is
	// that w, the one of the hard-margin support vector machine. +Inf without constraints.
	Margin float64
}

// Ball returns the largest ball inside, exact to 1e-9.
//
// The largest margin is the distance from the origin to the convex hull of the c_k, and w points to
// the nearest point of the hull, which Wolfe's algorithm finds (Finding the nearest point in a
// polytope, Mathematical Programming 11, 1976). A margin γ makes a ball of radius γ/(1+γ), which
// touches the sphere.
//
// The error wraps ErrEmpty if no w has ⟨w, c_k⟩ > 0 for all k, or none that rounding leaves
// (margins below 1e-10), and names constraints that contradict each other. Another says that
// rounding kept the algorithm from 1e-9.
func (s *Space) Ball() (Ball, error) {
	b, err := s.ball()
	b.Centre = slices.Clone(b.Centre)
	return b, err
}

func (s *Space) largest() (Ball, error) {
	if s.m == 0 {
		return Ball{Centre: make([]float64, s.d), Radius: 1, Margin: math.Inf(1)}, nil
	}
	h := &hull{s: s, members: []int{0}, shares: []float64{1}, x: slices.Clone(s.row(0))}
	margin, bound := h.nearest()
	if bound <= emptyBelow {
		return Ball{}, fmt.Errorf("version space of %d constraints in %d dimensions: %w: constraints %v "+
			"(counted from 0) have a combination of length %.1g, so no w is on the right side of all of "+
			"them: leave one of them out, for its label may be wrong, or use more features",
			s.m, s.d, ErrEmpty, h.members, bound)
	}
	if bound-margin > gapBelow || margin <= 0 {
		return Ball{}, fmt.Errorf("version space of %d constraints in %d dimensions: found a margin of "+
			"%g where %g may be possible, wanted a difference of at most %g: rounding hides the inside of "+
			"a space as thin as that, so leave constraints out that nearly touch it, or scale features "+
			"alike", s.m, s.d, margin, bound, gapBelow)
	}
	scale(h.x, 1/float64(bound*(1+margin)))
	return Ball{Centre: h.x, Radius: margin / (1 + margin), Margin: margin}, nil
}

// hull is what Wolfe's algorithm knows: the nearest point x so far, a combination of members.
type hull struct {
	s       *Space
	members []int     // constraints, in the order in which they came
	shares  []float64 // of members in x, ≥ 0 and of sum 1
	x       []float64

	// Cholesky's factor of what affine solves for the first members, a row for each, and what it makes
	// of the ones on the right side.
	factor [][]float64
	ones   []float64
}

// nearest moves x to the nearest point. It returns the margin of x's direction and ‖x‖, which
// bounds all margins.
func (h *hull) nearest() (margin, bound float64) {
	products := make([]float64, h.s.m)
	before := math.Inf(1)
	for {
		h.s.products(products, h.x)
		xx := dot(h.x, h.x)
		bound = math.Sqrt(xx)
		least := 0
		for k, p := range products {
			if p < products[least] {
				least = k
			}
		}
		margin = products[least] / bound
		if bound <= emptyBelow || bound-margin <= gapBelow/1000 || !(xx < before) ||
			slices.Contains(h.members, least) {
			return margin, bound
		}
		before = xx
		h.members, h.shares = append(h.members, least), append(h.shares, 0)
		if !h.descend() {
			return margin, bound
		}
	}
}

// descend moves x to the nearest combination of members, leaving out any that it would have a
// negative share of. It reports false, and leaves x, if rounding makes members look dependent.
func (h *hull) descend() bool {
	for {
		wanted := h.affine()
		if wanted == nil {
			return false
		}
		// How far from the shares towards the wanted ones all stay positive, and whose is 0 first.
		step, first := 1.0, -1
		for i, v := range wanted {
			if v > 0 {
				continue
			}
			if t := h.shares[i] / (h.shares[i] - v); first < 0 || t < step {
				step, first = t, i
			}
		}
		if first < 0 {
			h.shares = wanted
			clear(h.x)
			for i, k := range h.members {
				addScaled(h.x, h.shares[i], h.s.row(k))
			}
			return true
		}
		for i, v := range wanted {
			h.shares[i] += float64(step * (v - h.shares[i]))
		}
		h.members, h.shares = slices.Delete(h.members, first, first+1), slices.Delete(h.shares, first,
			first+1)
		known := min(first, len(h.factor))
		h.factor, h.ones = h.factor[:known], h.ones[:known]
	}
}

// affine returns the shares, of sum 1 and of any sign, of the combination of members nearest to the
// origin: those proportional to the solution of (1 + ⟨c_i, c_j⟩)·share = 1. nil if rounding leaves
// the matrix no Cholesky factor.
func (h *hull) affine() []float64 {
	n := len(h.members)
	for i := len(h.factor); i < n; i++ {
		row := make([]float64, i+1)
		for j := range i + 1 {
			v := 1 + dot(h.s.row(h.members[i]), h.s.row(h.members[j]))
			if i > j {
				row[j] = (v - dot(row[:j], h.factor[j][:j])) / h.factor[j][j]
			} else if v -= dot(row[:j], row[:j]); v < 1e-14 {
				return nil
			} else {
				row[i] = math.Sqrt(v)
			}
		}
		h.factor = append(h.factor, row)
		h.ones = append(h.ones, (1-dot(row[:i], h.ones))/row[i])
	}
	y, sum := slices.Clone(h.ones), 0.0
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			y[i] -= float64(h.factor[k][i] * y[k])
		}
		y[i] /= h.factor[i][i]
		sum += y[i]
	}
	scale(y, 1/sum)
	return y
}
