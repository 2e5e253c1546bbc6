package versionspace

import (
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// Soft is a set of examples whose walls are soft: w may be on the wrong side of one, at a price. With Evidence of
// each example, it is the density over all w
//
//	N(w; 0, I)·Π_i (Above_i·Φ(⟨w, x_i⟩/√λ) + Below_i·Φ(-⟨w, x_i⟩/√λ)).
//
// With Above and Below 1 and 0, or 0 and 1, its mean has the direction of a version space's, that of the same
// examples with one more feature each, of √λ and no other example's: the soft boundary of Herbrich, Graepel and
// Campbell (Bayes point machines, Journal of Machine Learning Research 1, 2001, section 3.2), whose kernel has λ
// more on the diagonal. A normal w has as even a direction as one that is uniform in the ball, and a wall through
// the origin asks for nothing else.
//
// It is not changed after NewSoft, so any number may use it at a time.
type Soft struct {
	n, d    int
	rows    []float64 // n×d: x_i/√λ
	lengths []float64 // ‖x_i‖²/λ
}

// Evidence is what the label of an example says of the side that w has to have it on.
type Evidence struct {
	Above float64 // P(label | ⟨w, x⟩ above 0), from 0 to 1
	Below float64 // P(label | ⟨w, x⟩ below 0)
}

// NewSoft returns the space of examples of d features, which are the rows of x, one after the other; they are
// copied. softness is λ, above 0, in the unit of ‖x‖².
//
// The error is about d, the number of numbers, a softness that is not above 0, or a number that is not finite.
func NewSoft(d int, x []float64, softness float64) (*Soft, error) {
	if d < 1 || len(x)%d != 0 {
		return nil, fmt.Errorf("soft version space: found %d numbers for examples of %d features, wanted d ≥ 1 and "+
			"d numbers for each", len(x), d)
	}
	if !(softness > 0) || math.IsInf(softness, 0) {
		return nil, fmt.Errorf("soft version space: softness is %v; it must be a number above 0", softness)
	}
	s := &Soft{n: len(x) / d, d: d, rows: make([]float64, len(x)), lengths: make([]float64, len(x)/d)}
	by := 1 / math.Sqrt(softness)
	for k, v := range x {
		s.rows[k] = v * by
	}
	for i := range s.lengths {
		for _, v := range s.row(i) {
			s.lengths[i] += float64(v * v)
		}
		if v := s.lengths[i]; v-v != 0 {
			return nil, fmt.Errorf("soft version space: example %d of %d has a length² of %g times the softness, wanted a "+
				"finite one: normalise the features", i, s.n, v)
		}
	}
	return s, nil
}

// Len returns the number of examples.
func (s *Soft) Len() int { return s.n }

func (s *Soft) row(i int) []float64 { return s.rows[i*s.d : (i+1)*s.d] }

// precision puts I + Σ_i τ_i·x_i·x_iᵀ/λ in l, d×d, the part on and below the diagonal. Each number is one sum in the
// order of the examples, whoever computes it.
func (s *Soft) precision(l, tau []float64) {
	var some []int // that count
	for i, t := range tau {
		if t > 0 {
			some = append(some, i)
		}
	}
	const rows = 8
	parallel.Tasks((s.d+rows-1)/rows, func(task int) {
		from := task * rows
		to := min(from+rows, s.d)
		for j := from; j < to; j++ {
			clear(l[j*s.d : (j+1)*s.d])
			l[j*s.d+j] = 1
		}
		k := 0
		for ; k+4 <= len(some); k += 4 {
			a, b, c, e := s.row(some[k]), s.row(some[k+1]), s.row(some[k+2]), s.row(some[k+3])
			ta, tb, tc, te := tau[some[k]], tau[some[k+1]], tau[some[k+2]], tau[some[k+3]]
			for j := from; j < to; j++ {
				fa, fb, fc, fe := ta*a[j], tb*b[j], tc*c[j], te*e[j]
				row := l[j*s.d : j*s.d+j+1]
				a, b, c, e := a[:len(row)], b[:len(row)], c[:len(row)], e[:len(row)]
				for m, v := range row {
					v += float64(fa * a[m])
					v += float64(fb * b[m])
					v += float64(fc * c[m])
					v += float64(fe * e[m])
					row[m] = v
				}
			}
		}
		for ; k < len(some); k++ {
			x := s.row(some[k])
			for j := from; j < to; j++ {
				addScaled(l[j*s.d:j*s.d+j+1], tau[some[k]]*x[j], x[:j+1])
			}
		}
	})
}

// cholesky replaces the lower part of the d×d matrix a by its factor L, a = L·Lᵀ, and reports whether there is one.
// The numbers on the diagonal become their reciprocals.
func cholesky(a []float64, d int) bool {
	for j := range d {
		row := a[j*d : j*d+j]
		v := a[j*d+j] - dot(row, row)
		if !(v > 0) || math.IsInf(v, 0) {
			return false
		}
		by := 1 / math.Sqrt(v)
		a[j*d+j] = by
		parallel.Ranges(d-j-1, 1+20000/(j+1), func(from, to int) {
			for i := j + 1 + from; i < j+1+to; i++ {
				a[i*d+j] = (a[i*d+j] - dot(a[i*d:i*d+j], row)) * by
			}
		})
	}
	return true
}

// forward puts L⁻¹x in y.
func forward(y, l, x []float64) {
	d := len(x)
	for j, v := range x {
		y[j] = (v - dot(l[j*d:j*d+j], y)) * l[j*d+j]
	}
}

// four is the number of vectors that forwardFour solves side by side: their sums do not wait for each other.
const four = 4

// forwardFour puts L⁻¹x of four examples in y, d×4, and returns the squares of their lengths.
func forwardFour(y [][four]float64, l []float64, x [four][]float64) (lengths [four]float64) {
	d := len(x[0])
	for j := range d {
		row := l[j*d : j*d+j]
		var a, b, c, e float64
		before := y[:len(row)]
		for k, v := range row {
			at := &before[k]
			a += float64(v * at[0])
			b += float64(v * at[1])
			c += float64(v * at[2])
			e += float64(v * at[3])
		}
		by := l[j*d+j]
		a, b, c, e = (x[0][j]-a)*by, (x[1][j]-b)*by, (x[2][j]-c)*by, (x[3][j]-e)*by
		y[j] = [four]float64{a, b, c, e}
		lengths[0] += float64(a * a)
		lengths[1] += float64(b * b)
		lengths[2] += float64(c * c)
		lengths[3] += float64(e * e)
	}
	return lengths
}

// backward puts L⁻ᵀy in y.
func backward(y, l []float64) {
	d := len(y)
	for j := d - 1; j >= 0; j-- {
		y[j] *= l[j*d+j]
		addScaled(y[:j], -y[j], l[j*d:j*d+j])
	}
}
