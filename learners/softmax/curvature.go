package softmax

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	budget "github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/learners"
)

// The information of up to alwaysFactored features is a whole matrix, which takes d³/6
// multiplications to factor; above MostFactored only the diagonal is kept.
const (
	alwaysFactored = 512
	MostFactored   = 2048
)

// whole says whether the information is a whole matrix. Between the two bounds it saves iterations,
// which take longer than its factors if examples and classes are many. Kernel components are so
// unlike each other that it is needed.
func whole(d, n, q int, mapped bool) bool {
	return d <= alwaysFactored || d <= MostFactored && (mapped || d*d <= 2*n*q)
}

// A sample of the examples tells the curvature: sampledRows for each feature, leastRows at least.
const (
	sampledRows = 4
	leastRows   = 1 << 11
	mostValues  = 1 << 26 // of the sample, if the information is a diagonal
)

// curvature is an estimate of the Hessian of the loss, from a sample of the examples:
//
//	P = 1/m Σ_i h_i x_i·x_iᵀ + λI,  the same for each class,
//
// where h_i is the Fisher information about a score of example i, the mean over classes of the
// expected squared residual. L-BFGS begins its directions from P⁻¹, and the trace of P⁻¹ times the
// information tells how much of the loss chance decides. Of many features only the diagonal is
// known; directions then begin from the gradient, since the diagonal makes them worse. Every sum
// is exact or has a fixed order, so that the bits are the same everywhere.
type curvature struct {
	problem *learners.Problem
	x       dataset.Examples  // m × d
	rows    []int             // which of the problem's examples they are; nil for all
	eval    *engine.Evaluator // of x
	scale   float64           // a power of two, at least the largest value of x

	information []float64 // d×d row-major, or its diagonal, d
	lambda      float64   // of the factor
	factor      []float64 // L, LLᵀ = P, d×d row-major, or the diagonal of P; nil if not known
	trace       float64   // of the information
	freedom     float64   // trace of P⁻¹ times the information: features that the data decide
}

// newCurvature picks the sample, and loads it.
func newCurvature(problem *learners.Problem) (*curvature, error) {
	d := problem.X.D
	c := &curvature{problem: problem}
	most := max(leastRows, sampledRows*d)
	if !c.whole() {
		most = max(1<<8, min(leastRows, mostValues/d))
	}
	if parts := (problem.X.N + most - 1) / most; parts > 1 {
		_, c.rows = dataset.DivideFolds(dataset.DrawFolds(problem.Y, problem.Q,
			min(parts, math.MaxUint8), problem.Seed^dataset.InnerFolds, dataset.InnerFolds), 0)
		if count := len(c.rows); count > most { // more parts than folds can count
			for k := range most { // from all places: files may be in the order of their labels
				c.rows[k] = c.rows[k*count/most]
			}
			c.rows = c.rows[:most]
		}
	}
	size := budget.Product(d, 2, 8)
	if c.whole() {
		size = budget.Product(d, d, 2, 8)
	}
	err := budget.Check(size, "the curvature of the loss")
	if err != nil {
		return nil, err
	}
	if c.rows == nil {
		c.x = problem.X
	} else {
		c.x = problem.X.Pick(c.rows)
	}
	most32 := float32(0)
	for i := range c.x.N {
		_, values := c.x.Entries(i)
		for _, v := range values {
			most32 = max(most32, v, -v)
		}
	}
	_, exponent := math.Frexp(float64(most32))
	c.scale = math.Ldexp(1, exponent)
	c.eval, err = problem.Engine.LoadEvaluator(c.x, problem.Q, numerics.FixedPoint{})
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (c *curvature) whole() bool {
	p := c.problem
	return whole(p.X.D, p.X.N, p.Q, p.Mapped)
}

func (c *curvature) close() error { return c.eval.Close() }

// measure finds the information at weights w that labels give by f, until ctx ends.
func (c *curvature) measure(ctx context.Context, w []float32, f informant) error {
	q, d, unit := c.problem.Q, c.x.D, 1.0
	if f.weight != nil {
		sum := 0.0
		for _, u := range f.weight {
			sum += float64(u)
		}
		unit = float64(len(f.weight)) / max(sum, 1)
	}
	h := make([]float32, c.x.N)
	err := c.eval.Rescore(engine.Weights{Q: q, D: d, W: w}, learners.AllClasses(q))
	if err != nil {
		return err
	}
	scores := make([]float32, c.x.N*q)
	err = learners.EachScores(c.eval.Scorer, func(i int, s []float32) error {
		copy(scores[i*q:], s)
		return nil
	})
	if err != nil {
		return err
	}
	parallel.Ranges(c.x.N, 64, func(from, to int) {
		for i := from; i < to && ctx.Err() == nil; i++ { // each takes Q×Q
			p := scores[i*q : (i+1)*q]
			if m, _ := numerics.Softmax(p, p); m-m == 0 {
				of := i
				if c.rows != nil {
					of = c.rows[i]
				}
				h[i] = float32(f.of(of, p))
			}
		}
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	c.factor = nil
	if c.whole() {
		return c.gram(h, unit)
	}
	c.information = make([]float64, d)
	entries := 0
	for i, f := range h {
		columns, values := c.x.Entries(i)
		for k, v := range values {
			if v == 0 {
				continue
			}
			j := k
			if columns != nil {
				j = int(columns[k])
			}
			c.information[j] += float64(float64(float64(f)*float64(v)) * float64(v))
			entries++
		}
	}
	c.trace = 0
	for j := range c.information {
		c.information[j] *= unit / float64(c.x.N)
		c.trace += c.information[j]
	}
	for j := range c.information { // as if each feature had been seen once more
		c.information[j] += c.trace / float64(max(1, entries))
	}
	return nil
}

// gramColumns is how many columns of the information are summed at a time.
const gramColumns = 128

// gram makes the information unit/m·Σ h_i x_i·x_iᵀ by the engine's weighted sums (clause 14).
func (c *curvature) gram(h []float32, unit float64) error {
	n, d := c.x.N, c.x.D
	unit *= math.Ldexp(c.scale, -c.eval.FixedPoint().S) / float64(n)
	c.information = make([]float64, d*d)
	a, sums := make([]float32, n*min(d, gramColumns)), make([]int64, min(d, gramColumns)*d)
	for at := 0; at < d; at += gramColumns {
		count := min(gramColumns, d-at)
		parallel.Ranges(n, 64, func(from, to int) {
			for i := from; i < to; i++ {
				f, row := h[i]/float32(c.scale), a[i*count:(i+1)*count]
				columns, values := c.x.Entries(i)
				if columns == nil {
					for j, v := range values[at : at+count] {
						row[j] = f * v
					}
					continue
				}
				clear(row)
				for k, j := range columns {
					if int(j) >= at && int(j) < at+count {
						row[int(j)-at] = f * values[k]
					}
				}
			}
		})
		if err := c.eval.WeightedSums(sums[:count*d], a[:n*count]); err != nil {
			return err
		}
		for k, v := range sums[:count*d] {
			c.information[at*d+k] = float64(v) * unit
		}
	}
	return nil
}

// leastRidge is added to the diagonal, relative to its mean: some features have no information.
const leastRidge = 1e-7

// probes is the number of random vectors by which a trace is estimated.
const probes = 8

// near is how far the λ of a factor may be from the one that is asked for.
const near = 4

// penalise computes P for a penalty λ and factors it; unless exactly is set, it keeps the factor of
// a near λ.
func (c *curvature) penalise(lambda float64, exactly bool) {
	if c.factor != nil && (lambda == c.lambda ||
		!exactly && lambda <= near*c.lambda && c.lambda <= near*lambda) {
		return
	}
	d := c.x.D
	c.lambda = lambda
	if !c.whole() {
		c.factor, c.freedom = slices.Clone(c.information), 0
		for j, v := range c.information {
			c.factor[j] += lambda + math.SmallestNonzeroFloat64
			c.freedom += v / c.factor[j]
		}
		return
	}
	c.trace = 0
	for j := range d {
		c.trace += c.information[j*(d+1)]
	}
	ridge := lambda + leastRidge*c.trace/float64(d)
	if ridge == 0 {
		ridge = 1
	}
	c.factor = slices.Clone(c.information)
	for j := range d {
		c.factor[j*(d+1)] += ridge
	}
	factorise(c.factor, d)
	rng := rand.New(rand.NewPCG(c.problem.Seed, dataset.InnerFolds))
	u := make([]float64, probes*d)
	for k := range u {
		u[k] = float64(2*rng.IntN(2) - 1)
	}
	z := slices.Clone(u)
	c.solve(z, 1)
	c.freedom = max(1, float64(d)-ridge*dot(u, z)/probes)
}

// panel is how many columns of a factor are made before the rows below take them in.
const panel = 64

// factorise replaces the lower triangle of a symmetric matrix, d×d row-major, by its Cholesky
// factor. A pivot that rounding has made negative becomes tiny.
func factorise(a []float64, d int) {
	// columns computes columns from..to-1 of row i of the factor.
	columns := func(i, from, to int) {
		row := a[i*d : (i+1)*d]
		to = min(to, i+1)
		for j := from; j < to; j += 4 {
			var s [4]float64
			if j+4 <= to {
				s = inner4(row[:j], a[j*d:], a[(j+1)*d:], a[(j+2)*d:], a[(j+3)*d:])
			} else {
				for c := range to - j {
					s[c] = inner1(row[:j], a[(j+c)*d:])
				}
			}
			for c := range min(4, to-j) {
				k := j + c
				for e := j; e < k; e++ {
					s[c] += float64(row[e] * a[k*d+e])
				}
				if v := row[k] - s[c]; k == i {
					row[k] = math.Sqrt(max(v, 1e-14*math.Abs(row[k]), 1e-300))
				} else {
					row[k] = v / a[k*d+k]
				}
			}
		}
	}
	for at := 0; at < d; at += panel {
		end := min(at+panel, d)
		for i := at; i < end; i++ {
			columns(i, at, end)
		}
		parallel.Ranges(d-end, 16, func(from, to int) {
			for i := end + from; i < end+to; i++ {
				columns(i, at, end)
			}
		})
	}
}

// gain returns twice the decrease of the loss that a minimiser expects: along its next direction,
// unless that begins from the gradient.
func (c *curvature) gain(m *minimiser) float64 {
	g := m.now.grad
	if c.whole() {
		return -dot(g, m.direction())
	}
	return total(len(g), func(from, to int) (sum float64) {
		j := from % c.x.D
		for _, v := range g[from:to] {
			sum += float64(v*v) / c.factor[j]
			if j++; j == c.x.D {
				j = 0
			}
		}
		return sum
	})
}

// most is the largest that P may do to a vector, and by what it is known of many features.
func (c *curvature) most() float64 { return c.lambda + c.trace + math.SmallestNonzeroFloat64 }

// squared returns ⟨y, P⁻¹·y⟩ as solve has it.
func (c *curvature) squared(y []float32) float64 {
	if !c.whole() {
		return squares(y) / c.most()
	}
	z := make([]float64, len(y))
	for i, v := range y {
		z[i] = float64(v)
	}
	c.solve(z, 1)
	return dot(y, z)
}

// solve makes f·P⁻¹·z of each vector of z, rows of d; z by the trace if P is a diagonal.
func (c *curvature) solve(z []float64, f float64) {
	d := c.x.D
	if !c.whole() {
		scale(z, f/c.most())
		return
	}
	q := len(z) / d
	parallel.Tasks((q+3)/4, func(task int) {
		var v [4][]float64
		for r := range v { // a place that nobody reads where there is no vector
			if at := 4*task + r; at < q {
				v[r] = z[at*d : (at+1)*d]
			} else {
				v[r] = make([]float64, d)
			}
		}
		c.solve4(v[0], v[1], v[2], v[3])
	})
	if f != 1 {
		scale(z, f)
	}
}

// solve4 solves for four vectors of d, in their places.
func (c *curvature) solve4(v0, v1, v2, v3 []float64) {
	d := c.x.D
	for i := range d {
		row := c.factor[i*d : i*d+i+1]
		s := inner4(row[:i], v0, v1, v2, v3)
		v0[i], v1[i] = (v0[i]-s[0])/row[i], (v1[i]-s[1])/row[i]
		v2[i], v3[i] = (v2[i]-s[2])/row[i], (v3[i]-s[3])/row[i]
	}
	for i := d - 1; i >= 0; i-- {
		row := c.factor[i*d : i*d+i+1]
		v0[i], v1[i], v2[i], v3[i] = v0[i]/row[i], v1[i]/row[i], v2[i]/row[i], v3[i]/row[i]
		f0, f1, f2, f3 := v0[i], v1[i], v2[i], v3[i]
		a, b, c, e := v0[:i], v1[:i], v2[:i], v3[:i]
		for j, l := range row[:i] {
			a[j] -= float64(f0 * l)
			b[j] -= float64(f1 * l)
			c[j] -= float64(f2 * l)
			e[j] -= float64(f3 * l)
		}
	}
}

// inner4 returns the inner products of x with the first numbers of four others, each in order: four
// sums need not wait for each other.
func inner4(x, a, b, c, d []float64) (s [4]float64) {
	a, b, c, d = a[:len(x)], b[:len(x)], c[:len(x)], d[:len(x)]
	var s0, s1, s2, s3 float64
	for i, v := range x {
		s0 += float64(v * a[i])
		s1 += float64(v * b[i])
		s2 += float64(v * c[i])
		s3 += float64(v * d[i])
	}
	return [4]float64{s0, s1, s2, s3}
}

// inner1 returns the inner product of x with the first numbers of y, in order.
func inner1(x, y []float64) (s float64) {
	for i, v := range x {
		s += float64(v * y[i])
	}
	return s
}

// informant returns how much a label says about the scores of its example.
type informant struct {
	q      int
	c      []float64 // how labels come about, Q×Q; nil if the label is the class
	weight []float32 // of the problem's examples; nil if all are 1
}

// of returns the mean over classes of the expected squared residual of example i, whose classes
// have probabilities p, times its weight: at most 1/4.
func (f informant) of(i int, p []float32) (h float64) {
	u := 1 / float64(f.q)
	if f.weight != nil {
		u *= float64(f.weight[i])
	}
	if f.c == nil {
		for _, v := range p {
			h += float64(float64(v) * (1 - float64(v)))
		}
		return u * h
	}
	for k := range f.q {
		row, label := f.c[k*f.q:(k+1)*f.q], 0.0
		for r, v := range p {
			label += float64(row[r] * float64(v))
		}
		if label < 1e-12 {
			continue
		}
		sum := 0.0
		for r, v := range p {
			change := float64(float64(v) * (row[r] - label))
			sum += float64(change * change)
		}
		h += sum / label
	}
	return u * h
}
