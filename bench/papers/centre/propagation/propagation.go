// Package propagation finds the centroid of a soft version space by expectation propagation, as the
// Bayes point machine of the thesis does.
package propagation

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// propagation finds the mean of a soft version space, the density over all w
//
//	N(w; 0, I)·Π_i (above_i·Φ(⟨w, x_i⟩/√λ) + below_i·Φ(-⟨w, x_i⟩/√λ)),
//
// by expectation propagation (Minka, A family of algorithms for approximate Bayesian inference, MIT
// 2001, section 4.2.1: the Bayes point machine). With evidence of 0 and 1 its mean has the
// direction of the centre of gravity of a hard version space whose examples have one more feature
// each, √λ (Herbrich, Graepel and Campbell, Bayes point machines, 2001, section 3.2).
//
// The approximation is a normal distribution N(m, V) with a factor exp(ν·z - ½τ·z²) for each
// example, z = ⟨w, x⟩/√λ. The factors are right when replacing one by the example's own term leaves
// the mean and variance of z. A pass takes a step towards that for all examples: a smaller step if
// the means had less far to go one pass earlier, else a slightly larger one. Evidence for both
// sides can ask for τ < 0; τ is then 0, and only the mean is matched.
type propagation struct {
	n, d    int
	rows    []float64 // n×d: x_i/√λ
	lengths []float64 // ‖x_i‖²/λ

	tau, nu []float64
	step    float64 // share of the way that a pass goes
	// moved is the largest change of a mean of z in the last pass, had it gone all the way, in units
	// of √(1 + variance of z); +Inf before the first pass.
	moved float64

	mean            []float64 // m
	factor          []float64 // Cholesky factor of V⁻¹, d×d, with reciprocals on the diagonal
	means, variance []float64 // of z under N(m, V)
}

// Centre returns the centre of the version space of w with ⟨w, x⟩ > 0 for each row x of d numbers:
// the mean of the soft version space of softness λ > 0.
func Centre(d int, rows []float64, softness float64) ([]float64, error) {
	const passes, near = 1000, 1e-6
	p, err := newPropagation(d, rows, softness)
	if err != nil {
		return nil, err
	}
	right := slices.Repeat([]evidence{{above: 1}}, p.n)
	for range passes {
		if err := p.pass(right); err != nil {
			return nil, err
		}
		if p.moved < near {
			return p.mean, nil
		}
	}
	return nil, fmt.Errorf("found a centre that still moves by %g of its doubt after %d passes: use "+
		"a greater softness", p.moved, passes)
}

// evidence is the likelihood of an example's label given the side of w that the example is on.
type evidence struct {
	above float64 // P(label | ⟨w, x⟩ > 0)
	below float64 // P(label | ⟨w, x⟩ < 0)
}

// Bounds of the step. On optdigits no centre came sooner with a larger mostStep, and some examples
// oscillate for softness 0.01 and a step of 0.9, or 0.001 and 0.5.
const (
	leastStep = 0x1p-4
	mostStep  = 0.8
)

// newPropagation returns the prior, m = 0 and V = I, for examples of d features, the rows of x, and
// softness λ > 0.
func newPropagation(d int, x []float64, softness float64) (*propagation, error) {
	n := len(x) / d
	p := &propagation{n: n, d: d, rows: make([]float64, n*d), lengths: make([]float64, n),
		tau: make([]float64, n), nu: make([]float64, n), step: mostStep,
		moved: math.Inf(1), mean: make([]float64, d), factor: make([]float64, d*d),
		means: make([]float64, n)}
	by := 1 / math.Sqrt(softness)
	for i := range n {
		row := p.row(i)
		for j, v := range x[i*d : (i+1)*d] {
			row[j] = v * by
			p.lengths[i] += float64(row[j] * row[j])
		}
		if v := p.lengths[i]; v-v != 0 {
			return nil, fmt.Errorf("example %d of %d has a length² of %g times the softness, wanted a "+
				"finite one: normalise the features", i, n, v)
		}
	}
	p.variance = slices.Clone(p.lengths)
	return p, nil
}

func (p *propagation) row(i int) []float64 { return p.rows[i*p.d : (i+1)*p.d] }

// pass takes a step for all examples. The error says that rounding made V singular.
func (p *propagation) pass(of []evidence) error {
	parallel.Ranges(p.n, 256, func(from, to int) {
		for i := from; i < to; i++ {
			p.improve(i, of[i])
		}
	})
	before := slices.Clone(p.means)
	if err := p.compute(); err != nil {
		return err
	}
	moved := 0.0
	for i, v := range p.means {
		moved = max(moved, math.Abs(v-before[i])/math.Sqrt(1+p.variance[i]))
	}
	if moved /= p.step; moved >= p.moved {
		p.step = max(p.step*0.7, leastStep)
	} else {
		p.step = min(p.step*1.05, mostStep)
	}
	p.moved = moved
	return nil
}

// improve updates the factor of example i: it turns the distribution without the factor, the
// cavity, into one with the moments that the example's own term gives.
func (p *propagation) improve(i int, e evidence) {
	v := p.variance[i]
	if v == 0 || e.above == 0 && e.below == 0 {
		return // x is 0, or the label is impossible
	}
	rest := 1 - float64(v*p.tau[i])
	if !(rest > 1e-9) {
		return // rounding
	}
	without := v / rest
	mean := (p.means[i] - float64(v*p.nu[i])) / rest
	width := math.Sqrt(1 + without)
	z := mean / width
	first := slope(z, e.above, e.below)
	second := float64(first*(z+first)) / (1 + without) // -d²log/dmean²
	first /= width
	tau, nu := 0.0, first
	if second > 0 {
		left := 1 - float64(without*second) // share of the variance that the term leaves
		tau, nu = second/left, (first+float64(mean*second))/left
	}
	p.tau[i] += float64(p.step * (tau - p.tau[i]))
	p.nu[i] += float64(p.step * (nu - p.nu[i]))
}

// compute derives m and the means and variances of all z from the factors.
func (p *propagation) compute() error {
	p.precision()
	if !cholesky(p.factor, p.d) {
		return errors.New("rounding made the covariance matrix singular: use a greater softness, or " +
			"normalise the features")
	}
	clear(p.mean)
	for i, v := range p.nu {
		if v != 0 {
			numerics.AddScaled64(p.mean, v, p.row(i))
		}
	}
	forward(p.mean, p.factor)
	backward(p.mean, p.factor)
	groups := (p.n + abreast - 1) / abreast
	parallel.Ranges(groups, 1+20000/(p.d*p.d), func(from, to int) {
		y := make([]group, p.d)
		for g := from; g < to; g++ {
			rows := min(abreast, p.n-abreast*g)
			for k := range abreast { // the last row again where there are fewer
				for j, v := range p.row(abreast*g + min(k, rows-1)) {
					y[j][k] = v
				}
			}
			lengths := solve(y, p.factor, p.d)
			for k := range rows {
				i := abreast*g + k
				p.means[i], p.variance[i] = numerics.Dot64(p.row(i), p.mean), lengths[k]
			}
		}
	})
	return nil
}

// precision sets the lower triangle of factor to V⁻¹ = I + Σ_i τ_i·x_i·x_iᵀ/λ. Each number is one
// sum in the order of the examples.
func (p *propagation) precision() {
	used := lists.Where(p.n, func(i int) bool { return p.tau[i] > 0 })
	const rows = 8
	parallel.Tasks((p.d+rows-1)/rows, func(task int) {
		from := task * rows
		to := min(from+rows, p.d)
		clear(p.factor[from*p.d : to*p.d])
		for j := from; j < to; j++ {
			p.factor[j*p.d+j] = 1
		}
		k := 0
		for ; k+4 <= len(used); k += 4 { // four at a time, which loads each number once
			p.addFour(from, to, [4]int(used[k:k+4]))
		}
		for ; k < len(used); k++ {
			x := p.row(used[k])
			for j := from; j < to; j++ {
				numerics.AddScaled64(p.factor[j*p.d:j*p.d+j+1], p.tau[used[k]]*x[j], x[:j+1])
			}
		}
	})
}

// addFour adds the terms of four examples to rows from..to-1 of factor.
func (p *propagation) addFour(from, to int, which [4]int) {
	x0, x1, x2, x3 := p.row(which[0]), p.row(which[1]), p.row(which[2]), p.row(which[3])
	for j := from; j < to; j++ {
		row := p.factor[j*p.d : j*p.d+j+1]
		f0, f1 := p.tau[which[0]]*x0[j], p.tau[which[1]]*x1[j]
		f2, f3 := p.tau[which[2]]*x2[j], p.tau[which[3]]*x3[j]
		a, b, c, e := x0[:len(row)], x1[:len(row)], x2[:len(row)], x3[:len(row)]
		for m, v := range row {
			v += float64(f0 * a[m])
			v += float64(f1 * b[m])
			v += float64(f2 * c[m])
			v += float64(f3 * e[m])
			row[m] = v
		}
	}
}

// abreast is the number of right sides that solve takes at a time, so that their sums do not wait
// for each other; group has a number of each.
const abreast = 4

type group [abreast]float64

// solve replaces the columns of y by L⁻¹·y, for the first len(y) rows of L as cholesky leaves it in
// l, d×d, and returns their squared lengths.
func solve(y []group, l []float64, d int) (lengths group) {
	for j := range y {
		row := l[j*d : j*d+j]
		before := y[:len(row)]
		var s0, s1, s2, s3 float64
		for k, v := range row {
			at := &before[k]
			s0 += float64(v * at[0])
			s1 += float64(v * at[1])
			s2 += float64(v * at[2])
			s3 += float64(v * at[3])
		}
		sums := group{s0, s1, s2, s3}
		for k, sum := range sums {
			y[j][k] = (y[j][k] - sum) * l[j*d+j]
			lengths[k] += float64(y[j][k] * y[j][k])
		}
	}
	return lengths
}

// cholesky replaces the lower triangle of a, d×d, by its Cholesky factor with reciprocals on the
// diagonal, and reports whether there is one. It takes blocks of 16 rows, which fixes the order of
// its sums: one sum for columns before the block, numerics.Dot64 inside.
func cholesky(a []float64, d int) bool {
	const block = 16
	y := make([]group, d)
	for from := 0; from < d; from += block {
		to := min(from+block, d)
		for first := from; first < to; first += abreast {
			last := min(first+abreast, to)
			for i := first; i < last; i++ {
				for j, v := range a[i*d : i*d+from] {
					y[j][i-first] = v
				}
			}
			solve(y[:from], a, d)
			for i := first; i < last; i++ {
				for j := range from {
					a[i*d+j] = y[j][i-first]
				}
			}
		}
		for i := from; i < to; i++ {
			row := a[i*d : i*d+i]
			for j := from; j < i; j++ {
				row[j] = (row[j] - numerics.Dot64(row[:j], a[j*d:j*d+j])) * a[j*d+j]
			}
			v := a[i*d+i] - numerics.Dot64(row, row)
			if !(v > 0) || math.IsInf(v, 0) {
				return false
			}
			a[i*d+i] = 1 / math.Sqrt(v)
		}
	}
	return true
}

// forward replaces x by L⁻¹·x, for L as cholesky leaves it in l.
func forward(x, l []float64) {
	d := len(x)
	for j, v := range x {
		x[j] = (v - numerics.Dot64(l[j*d:j*d+j], x)) * l[j*d+j]
	}
}

// backward replaces y by L⁻ᵀ·y.
func backward(y, l []float64) {
	d := len(y)
	for j := d - 1; j >= 0; j-- {
		y[j] *= l[j*d+j]
		numerics.AddScaled64(y[:j], -y[j], l[j*d:j*d+j])
	}
}
