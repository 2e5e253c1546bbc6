package engine

import (
	"fmt"
	"math"
	"sort"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/mercer"
)

// Projection maps an example x to D = Axes.Q numbers (clause 13): number t is
// Σ_l κ(x, landmark_l)·Axes[t][l] + Offset[t]. With Axes.Q == 0 it maps x to the m kernel
// values themselves.
type Projection struct {
	Function  mercer.Function
	Landmarks dataset.Examples // m × d, dense or sparse
	Axes      Weights          // D rows of m; Q = 0 and W empty for none
	Offset    []float32        // D, or nil for none
}

// Width returns the count of numbers that p maps an example to: D, or m without axes.
func (p Projection) Width() int {
	if p.Axes.Q == 0 {
		return p.Landmarks.N
	}
	return p.Axes.Q
}

// CheckProject judges the arguments of Engine.Project for every engine alike.
func CheckProject(dst []float32, x dataset.Examples, p Projection) error {
	const op = "project"
	const most = math.MaxInt32 - 1024
	if err := p.Function.Check(); err != nil {
		return fmt.Errorf("%s: %w: %w", op, ErrValue, err)
	}
	m, axes := p.Landmarks, p.Axes
	if x.N < 1 || x.D < 1 || m.N < 1 || x.N > most || x.D > most || m.N > most || axes.Q < 0 || axes.Q > most {
		return fmt.Errorf("%s: %w: got %d examples, %d features, %d landmarks, %d axes; "+
			"want 1 to 2^31-1025 of each, axes from 0", op, ErrShape, x.N, x.D, m.N, axes.Q)
	}
	if m.D != x.D {
		return fmt.Errorf("%s: %w: landmarks have %d features, examples have %d", op, ErrShape, m.D, x.D)
	}
	if err := x.Check(); err != nil {
		return fmt.Errorf("%s: %w: examples: %w", op, ErrShape, err)
	}
	if err := m.Check(); err != nil {
		return fmt.Errorf("%s: %w: landmarks: %w", op, ErrShape, err)
	}
	if axes.Q > 0 && axes.D != m.N || len(axes.W) != axes.Q*axes.D && axes.Q > 0 || axes.Q == 0 && len(axes.W) != 0 {
		return fmt.Errorf("%s: %w: axes are %d×%d with %d values, %d landmarks want as many columns",
			op, ErrShape, axes.Q, axes.D, len(axes.W), m.N)
	}
	if p.Offset != nil && len(p.Offset) != axes.Q {
		return fmt.Errorf("%s: %w: offset has %d values for %d axes", op, ErrShape, len(p.Offset), axes.Q)
	}
	if x.N > math.MaxInt/p.Width() || len(dst) != x.N*p.Width() {
		return fmt.Errorf("%s: %w: dst has %d values for %d examples, %d numbers each",
			op, ErrShape, len(dst), x.N, p.Width())
	}
	for _, part := range []struct {
		what string
		e    dataset.Examples
	}{{"example", x}, {"landmark", m}, {"axis", dataset.Examples{N: axes.Q, D: axes.D, X: axes.W}},
		{"offset", dataset.Examples{N: 1, D: len(p.Offset), X: p.Offset}}} {
		if _, err := largestOf(op, part.what, part.e); err != nil {
			return err
		}
	}
	return nil
}

// largestOf returns the largest absolute value of x, or an error that names the first that
// is not finite, what being the name of one of its rows.
func largestOf(op, what string, x dataset.Examples) (maxAbs float32, err error) {
	values := x.X
	if x.Sparse() {
		values = x.Values
	}
	// Bits without the sign are ordered as the absolute values are, NaN and ±Inf
	// last; integers are compared four times as fast.
	const sign = 1 << 31
	largest := uint32(0)
	for at, v := range values {
		a := math.Float32bits(v) &^ sign
		if largest = max(largest, a); a > math.MaxUint32&^sign-1<<23 {
			i, j := at/x.D, at%x.D
			if x.Sparse() {
				i, j = sort.Search(x.N, func(i int) bool { return x.Starts[i+1] > int64(at) }), int(x.Columns[at])
			}
			return 0, fmt.Errorf("%s: %w: %s %d has %v in column %d", op, ErrValue, what, i, v, j)
		}
	}
	return math.Float32frombits(largest), nil
}
