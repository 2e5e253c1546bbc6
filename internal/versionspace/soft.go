package versionspace

import (
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// Soft is a set of examples whose walls w may be on the wrong side of, at a price. With Evidence of
// each example, it is the density over all w
//
//	N(w; 0, I)·Π_i (Above_i·Φ(⟨w, x_i⟩/√λ) + Below_i·Φ(-⟨w, x_i⟩/√λ)).
//
// With Above and Below 1 and 0, or 0 and 1, its mean has the direction of a version space's, that
// of the same examples with one more feature each, of √λ and no other example's: the soft boundary
// of Herbrich, Graepel and Campbell (Bayes point machines, Journal of Machine Learning Research 1,
// 2001, section 3.2). A normal w has as even a direction as one that is uniform in the ball.
//
// It is not changed after NewSoft, so any number may use it at a time.
type Soft struct {
	n, d    int
	stride  int       // d padded, by zeros
	rows    []float64 // n×stride: x_i/√λ
	lengths []float64 // ‖x_i‖²/λ
}

// Evidence is what the label of an example says of the side that w has to have it on.
type Evidence struct {
	Above float64 // P(label | ⟨w, x⟩ above 0), from 0 to 1
	Below float64 // P(label | ⟨w, x⟩ below 0)
}

// NewSoft returns the space of examples of d features, the rows of x, which are copied. softness is
// λ, above 0, in the unit of ‖x‖².
func NewSoft(d int, x []float64, softness float64) (*Soft, error) {
	if d < 1 || len(x)%d != 0 {
		return nil, fmt.Errorf("soft version space: found %d numbers for examples of %d features, "+
			"wanted d ≥ 1 and d numbers for each", len(x), d)
	}
	if !(softness > 0) || math.IsInf(softness, 0) {
		return nil, fmt.Errorf("soft version space: softness is %v; it must be a number above 0",
			softness)
	}
	n, stride := len(x)/d, padded(d)
	s := &Soft{n: n, d: d, stride: stride, rows: make([]float64, n*stride), lengths: make([]float64,
		n)}
	by := 1 / math.Sqrt(softness)
	for i := range n {
		row := s.row(i)
		for j, v := range x[i*d : (i+1)*d] {
			row[j] = v * by
			s.lengths[i] += float64(row[j] * row[j])
		}
		if v := s.lengths[i]; v-v != 0 {
			return nil, fmt.Errorf("soft version space: example %d of %d has a length² of %g times the "+
				"softness, wanted a finite one: normalise the features", i, s.n, v)
		}
	}
	return s, nil
}

// row returns example i; its capacity is that of all its padded row.
func (s *Soft) row(i int) []float64 { return s.rows[i*s.stride : i*s.stride+s.d : (i+1)*s.stride] }

// precision puts I + Σ_i τ_i·x_i·x_iᵀ/λ in l, d×stride, the part on and below the diagonal. Each
// number is one sum in the order of the examples, on every processor.
func (s *Soft) precision(l, tau []float64) {
	some := lists.Where(len(tau), func(i int) bool { return tau[i] > 0 }) // that count
	const rows = 8
	parallel.Tasks((s.d+rows-1)/rows, func(task int) {
		from := task * rows
		to := min(from+rows, s.d)
		clear(l[from*s.stride : to*s.stride])
		for j := from; j < to; j++ {
			l[j*s.stride+j] = 1
		}
		k := 0
		for ; k+4 <= len(some); k += 4 {
			var x [4][]float64
			var four [4]float64
			for part, i := range some[k : k+4] {
				x[part], four[part] = s.row(i), tau[i]
			}
			fastest.addFour(l, s.stride, from, to, x, four)
		}
		for ; k < len(some); k++ {
			x := s.row(some[k])
			for j := from; j < to; j++ {
				addScaled(l[j*s.stride:j*s.stride+j+1], tau[some[k]]*x[j], x[:j+1])
			}
		}
	})
}

// cholesky replaces the lower part of the d×d matrix a, of rows stride numbers apart, by its factor
// L, a = L·Lᵀ, and reports whether there is one. The diagonal becomes its reciprocals. Rows are
// taken abreast: what they have left of the square on the diagonal is what examples have when
// solved.
func cholesky(a []float64, stride, d int) bool {
	y := make([]side, d)
	for from := 0; from < d; from += abreast {
		to := min(from+abreast, d)
		for i := from; i < to; i++ {
			for j, v := range a[i*stride : i*stride+from] {
				y[j][i-from] = v
			}
		}
		fastest.solve(y[:from], a, stride)
		for i := from; i < to; i++ {
			row := a[i*stride : i*stride+i]
			for j := range from {
				row[j] = y[j][i-from]
			}
			for j := from; j < i; j++ {
				row[j] = (row[j] - dot(row[:j], a[j*stride:j*stride+j])) * a[j*stride+j]
			}
			v := a[i*stride+i] - dot(row, row)
			if !(v > 0) || math.IsInf(v, 0) {
				return false
			}
			a[i*stride+i] = 1 / math.Sqrt(v)
		}
	}
	return true
}

// forward puts L⁻¹x in y.
func forward(y, l, x []float64, stride int) {
	for j, v := range x {
		y[j] = (v - dot(l[j*stride:j*stride+j], y)) * l[j*stride+j]
	}
}

// backward puts L⁻ᵀy in y.
func backward(y, l []float64, stride int) {
	for j := len(y) - 1; j >= 0; j-- {
		y[j] *= l[j*stride+j]
		addScaled(y[:j], -y[j], l[j*stride:j*stride+j])
	}
}
