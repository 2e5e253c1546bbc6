package means

import (
	"context"
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// tolerance is the least squared distance of an atom from the span of the atoms before it, relative
// to the largest squared length: float32 kernel values are not accurate enough for less.
const tolerance = 1e-6

// panel is the number of columns after which the rest of the matrix is updated.
const panel = 64

// lower is a lower triangular matrix in float64, n columns of it, each row stride long.
type lower struct {
	n, stride int
	a         []float64
}

// factor returns L with LLᵀ = K for atoms in pivot order: each is the farthest from the span of
// those before, and atoms within tolerance of the span are left out. values are K, n×n.
//
// Unlike the factor of package pca, which uses a BLAS, it adds rounded products in a fixed order,
// so the weights have the same bits on every processor.
func factor(ctx context.Context, values []float32, n int) (lower, []int, error) {
	l := lower{stride: n, a: make([]float64, n*n)}
	order, rest, largest := make([]int, n), make([]float64, n), 0.0
	for i := range order {
		order[i] = i
		for j := range i + 1 {
			l.a[i*n+j] = float64(values[i*n+j])
		}
		largest = max(largest, l.a[i*n+i])
	}
	if math.IsInf(largest, 0) || math.IsNaN(largest) {
		return l, nil, nil
	}
	for at := 0; at < n; at += panel {
		if err := ctx.Err(); err != nil {
			return l, nil, err
		}
		to := min(at+panel, n)
		for i := at; i < n; i++ {
			rest[i] = l.a[i*n+i]
		}
		for j := at; j < to; j++ {
			best := j
			for i := j + 1; i < n; i++ {
				if rest[i] > rest[best] {
					best = i
				}
			}
			if !(rest[best] > tolerance*largest) {
				return l, order[:l.n], nil
			}
			numerics.SwapLower(l.a, n, j, best)
			order[j], order[best], rest[j], rest[best] = order[best], order[j], rest[best], rest[j]
			l.column(j, at, rest)
			l.n++
		}
		l.update(at, to)
	}
	return l, order, nil
}

// column computes column j of the factor, given columns at..j-1, and subtracts its squares from
// rest.
func (l lower) column(j, at int, rest []float64) {
	n := l.stride
	pivot := math.Sqrt(rest[j])
	l.a[j*n+j] = pivot
	own := l.a[j*n+at : j*n+j]
	for i := j + 1; i < n; i++ {
		row := l.a[i*n : (i+1)*n]
		row[j] = (row[j] - dot(row[at:j], own)) / pivot
		rest[i] -= float64(row[j] * row[j])
	}
}

// rowsOfTask is the number of rows in a task of update.
const rowsOfTask = 32

// update subtracts the products of columns at..to-1 from the rows below.
func (l lower) update(at, to int) {
	n, w := l.stride, to-at
	packed := make([]float64, (n-to)*w) // those columns
	for i := to; i < n; i++ {
		copy(packed[(i-to)*w:], l.a[i*n+at:i*n+to])
	}
	tasks := (n - to + rowsOfTask - 1) / rowsOfTask
	parallel.Tasks(tasks, func(task int) {
		from := (tasks - 1 - task) * rowsOfTask // the longest first
		last := min(from+rowsOfTask, n-to)
		for j := range last {
			for i := max(from, j); i < last; i++ {
				l.a[(i+to)*n+to+j] -= dot(packed[i*w:(i+1)*w], packed[j*w:(j+1)*w])
			}
		}
	})
}

// dot returns ⟨x,y⟩ as one sum.
func dot(x, y []float64) float64 {
	sum := 0.0
	y = y[:len(x)]
	for k, v := range x {
		sum += float64(v * y[k])
	}
	return sum
}

// forward replaces v, n values, by L⁻¹·v.
func (l lower) forward(v []float64) {
	for i := range v {
		row := l.a[i*l.stride:]
		v[i] = (v[i] - dot(row[:i], v[:i])) / row[i]
	}
}

// backward writes L⁻ᵀ·v to dst, for the first len(v) columns of L. It overwrites v.
func (l lower) backward(dst []float32, v []float64) {
	for i := len(v) - 1; i >= 0; i-- {
		row := l.a[i*l.stride:]
		v[i] /= row[i]
		for j, r := range row[:i] {
			v[j] -= float64(v[i] * r)
		}
		dst[i] = float32(v[i])
	}
}

// optimal projects each exact mean onto the span of the atoms, β_k = K⁻¹·⟨ω_k, φ(atoms)⟩. It drops
// atoms in the span of the others, and sets Error.
func (s *sample) optimal(m *Means) error {
	m.Bound = nil
	a, q := m.Landmarks.N, len(s.sizes)
	if err := memory.Check(memory.Product(a, a, 12), fmt.Sprintf("kernel values of %d atoms",
		a)); err != nil {
		return err
	}
	values, err := s.project(m.Landmarks, engine.Projection{Function: s.o.Function,
		Landmarks: m.Landmarks})
	if err != nil {
		return err
	}
	means, err := s.exactAt(m.Rows)
	if err != nil {
		return err
	}
	l, order, err := factor(s.ctx, values, a)
	if err != nil {
		return err
	}
	if len(order) == 0 {
		return fmt.Errorf("kernel mean: %w: found atoms that are all 0 in feature space, or values that "+
			"overflow float32; scale the examples, or take another kernel function", ErrOptions)
	}
	m.Dropped = a - len(order)
	exact := make([]float32, 0, len(order)*q)
	for _, at := range order {
		exact = append(exact, means[at*q:(at+1)*q]...)
	}
	m.Landmarks, m.Rows = m.Landmarks.Pick(order), lists.At(m.Rows, order)
	m.Axes = engine.NewWeights(q, len(order))
	for k := range q {
		right := make([]float64, len(order))
		for t, at := range order {
			right[t] = float64(means[at*q+k])
		}
		l.forward(right)
		l.backward(m.Axes.Row(k), right)
	}
	m.Error, err = s.errors(m.Projection, exact)
	return err
}
