package versionspace

import (
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/numerics"
)

const (
	emptyBelow = 1e-10 // margins that may be rounding
	gapBelow   = 1e-9  // largest difference between the margin found and the upper bound
)

// Ball is the largest ball inside a version space.
type Ball struct {
	Centre []float64 // the caller may change it
	Radius float64   // above 0, up to 1

	// Margin is the largest min_k ⟨w, c_k⟩/‖c_k‖ over all w of length 1; Centre/‖Centre‖ attains it,
	// as the hard-margin support vector machine does. It is +Inf without constraints.
	Margin float64
}

// Ball returns the largest ball inside the space, exact to 1e-9.
//
// The largest margin is the distance from the origin to the convex hull of the c_k, and w points to
// the nearest point of the hull. Wolfe's algorithm finds it (Finding the nearest point in a
// polytope, Mathematical Programming 11, 1976). A margin γ gives a ball of radius γ/(1+γ), which
// touches the sphere.
//
// The error wraps ErrEmpty if no w has a margin above 1e-10, and names constraints that contradict
// each other. Another error says that rounding kept the algorithm from an accuracy of 1e-9.
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

// hull is the state of Wolfe's algorithm: the nearest point x so far, a combination of members.
type hull struct {
	s       *Space
	members []int     // constraints, in the order of their arrival
	shares  []float64 // coefficients of members in x, ≥ 0 and of sum 1
	x       []float64

	// The Cholesky factor of the matrix of affine for the first members, a row for each, and the
	// forward-solved right side.
	factor [][]float64
	ones   []float64
}

// nearest moves x to the nearest point. It returns the margin of x and ‖x‖, which bounds all
// margins.
func (h *hull) nearest() (margin, bound float64) {
	products := make([]float64, h.s.m)
	before := math.Inf(1)
	for {
		h.s.products(products, h.x)
		xx := numerics.Dot64(h.x, h.x)
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

// descend moves x to the nearest convex combination of members and drops members with share 0. It
// reports false, and leaves x, if rounding makes members look dependent.
func (h *hull) descend() bool {
	for {
		target := h.affine()
		if target == nil {
			return false
		}
		// The largest step towards target that keeps all shares ≥ 0, and the first share to reach 0.
		step, first := 1.0, -1
		for i, v := range target {
			if v > 0 {
				continue
			}
			if t := h.shares[i] / (h.shares[i] - v); first < 0 || t < step {
				step, first = t, i
			}
		}
		if first < 0 {
			h.shares = target
			clear(h.x)
			for i, k := range h.members {
				numerics.AddScaled64(h.x, h.shares[i], h.s.row(k))
			}
			return true
		}
		for i, v := range target {
			h.shares[i] += float64(step * (v - h.shares[i]))
		}
		h.members, h.shares = slices.Delete(h.members, first, first+1), slices.Delete(h.shares, first,
			first+1)
		known := min(first, len(h.factor))
		h.factor, h.ones = h.factor[:known], h.ones[:known]
	}
}

// affine returns the coefficients, of sum 1, of the affine combination of members nearest to the
// origin: they are proportional to the solution of (1 + ⟨c_i, c_j⟩)·share = 1. It returns nil if
// rounding leaves the matrix without a Cholesky factor.
func (h *hull) affine() []float64 {
	n := len(h.members)
	for i := len(h.factor); i < n; i++ {
		row := make([]float64, i+1)
		for j := range i + 1 {
			v := 1 + numerics.Dot64(h.s.row(h.members[i]), h.s.row(h.members[j]))
			if i > j {
				row[j] = (v - numerics.Dot64(row[:j], h.factor[j][:j])) / h.factor[j][j]
			} else if v -= numerics.Dot64(row[:j], row[:j]); v < 1e-14 {
				return nil
			} else {
				row[i] = math.Sqrt(v)
			}
		}
		h.factor = append(h.factor, row)
		h.ones = append(h.ones, (1-numerics.Dot64(row[:i], h.ones))/row[i])
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
