package softmax

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
)

// noisyProblem returns n random examples of d features, of very different scales, and q classes.
func noisyProblem(t *testing.T, n, d, q int) *learners.Problem {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := make([]float32, n*d), make([]int32, n)
	for i := range y {
		y[i] = int32(rng.IntN(q))
		for j := range d {
			v := rng.NormFloat64() + float64((int(y[i])*7+j)%q)
			if rng.IntN(3) > 0 {
				x[i*d+j] = float32(math.Ldexp(v, -j%5))
			}
		}
	}
	names := make([]string, q)
	for k := range names {
		names[k] = string(rune('a' + k))
	}
	c, err := confusion.Pairwise(names, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	if y, err = c.Inject(y, 1); err != nil {
		t.Fatal(err)
	}
	return &learners.Problem{X: dataset.Examples{N: n, D: d, X: x}, Y: y, Q: q, Noise: c,
		Engine: simd.New(), Seed: 1}
}

// The information equals a twin's in float64, which sums over labels and classes as the definition
// says; it has the same bits on another engine and with sparse examples.
func TestInformation(t *testing.T) {
	const n, d, q = 500, 150, 3
	p := noisyProblem(t, n, d, q)
	rng := rand.New(rand.NewPCG(3, 4))
	w, weight := make([]float32, q*d), make([]float32, n)
	for k := range w {
		w[k] = float32(rng.NormFloat64() / 10)
	}
	total := 0.0
	for i := range weight {
		weight[i] = float32(rng.Float64())
		total += float64(weight[i])
	}
	for name, f := range map[string]informant{
		"labels through C": {q: q, c: p.Noise.P},
		"right labels":     {q: q},
		"weights":          {q: q, c: p.Noise.P, weight: weight},
	} {
		t.Run(name, func(t *testing.T) {
			want := make([]float64, d*d)
			for i := range n {
				h := plainInformation(p, f.c, p.X.Row(i), w)
				if f.weight != nil {
					h *= float64(weight[i]) * n / total
				}
				for j, a := range p.X.Row(i) {
					for k, b := range p.X.Row(i) {
						want[j*d+k] += h * float64(a) * float64(b) / n
					}
				}
			}
			measured := func(p *learners.Problem) *curvature {
				c, err := newCurvature(p)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { c.close() })
				if err := c.measure(t.Context(), w, f); err != nil {
					t.Fatal(err)
				}
				return c
			}
			got := measured(p)
			for k, v := range got.information {
				if math.Abs(v-want[k]) > 1e-5*want[k/d*(d+1)]+1e-9 {
					t.Fatalf("information %d, %d: got %v, want %v", k/d, k%d, v, want[k])
				}
			}
			other := p.On(p.X.Compressed(), p.Y)
			other.Engine = cpuref.New()
			if !slices.Equal(measured(other).information, got.information) {
				t.Error("other bits of sparse examples on another engine")
			}
		})
	}
}

// plainInformation returns the mean over classes of the expected squared residual.
func plainInformation(p *learners.Problem, c []float64, x, w []float32) float64 {
	q := p.Q
	if c == nil {
		c = confusion.NoNoise(q).V
	}
	probability, sum := make([]float64, q), 0.0
	for r := range q {
		s := 0.0
		for j, v := range x {
			s += float64(v) * float64(w[r*len(x)+j])
		}
		probability[r] = math.Exp(s)
		sum += probability[r]
	}
	h := 0.0
	for k := range q {
		label := 0.0
		for r := range q {
			label += c[k*q+r] * probability[r] / sum
		}
		for r := range q {
			posterior := c[k*q+r] * probability[r] / sum / label
			h += label * (posterior - probability[r]/sum) * (posterior - probability[r]/sum) / float64(q)
		}
	}
	return h
}

// The factor solves as gonum's does, and the trace approximates the trace of the whole inverse.
func TestFactor(t *testing.T) {
	const n, d, lambda = 400, 150, 0.01
	p := noisyProblem(t, n, d, 2)
	c, err := newCurvature(p)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	if err := c.measure(t.Context(), make([]float32, 2*d), informant{q: 2}); err != nil {
		t.Fatal(err)
	}
	c.penalise(lambda, true)
	a := mat.NewSymDense(d, slices.Clone(c.information))
	trace := 0.0
	for j := range d {
		trace += a.At(j, j)
	}
	information := mat.NewSymDense(d, slices.Clone(c.information))
	for j := range d {
		a.SetSym(j, j, a.At(j, j)+lambda+leastRidge*trace/d)
	}
	var whole mat.Cholesky
	if !whole.Factorize(a) {
		t.Fatal("gonum finds no factor")
	}
	g := make([]float64, 2*d)
	for k := range g {
		g[k] = float64(k%7) - 3
	}
	z := slices.Clone(g)
	c.solve(z, 1)
	for r := range 2 {
		var want mat.VecDense
		if err := whole.SolveVecTo(&want, mat.NewVecDense(d, g[r*d:(r+1)*d])); err != nil {
			t.Fatal(err)
		}
		for j := range d {
			if math.Abs(z[r*d+j]-want.AtVec(j)) > 1e-9*want.Norm(2) {
				t.Fatalf("solution %d, %d: got %v, want %v", r, j, z[r*d+j], want.AtVec(j))
			}
		}
	}
	var inverse mat.SymDense
	if err := whole.InverseTo(&inverse); err != nil {
		t.Fatal(err)
	}
	var product mat.Dense
	product.Mul(&inverse, information)
	if want := mat.Trace(&product); math.Abs(c.freedom-want) > 0.05*want {
		t.Errorf("freedom: got %v, want about %v", c.freedom, want)
	}
}

// fitted returns how many iterations a fit of p takes, with a small penalty.
func fitted(t *testing.T, p *learners.Problem) (steps int, err error) {
	s, err := NewSolver(Defaults(), p)
	if err != nil {
		return 0, err
	}
	g := Goal{Aim: "all", Targets: s.Labels.Targets, Lambda: 1e-6, Most: 200, Share: 1e-3, Last: true}
	s.Begin("fit", g)
	_, err = s.Fit(t.Context(), g, make([]float32, p.Q*p.X.D),
		func([]float32, float64, float64) error { steps++; return nil })
	return steps, errors.Join(err, s.Close())
}

// Of features of very different scales the curvature saves most iterations: without it this takes
// 150 and more.
func TestCurvatureSavesIterations(t *testing.T) {
	const most = 40
	p := noisyProblem(t, 3000, 60, 4)
	for i := range p.X.N {
		for j := range p.X.D {
			p.X.X[i*p.X.D+j] *= float32(math.Ldexp(1, -j%9))
		}
	}
	steps, err := fitted(t, p)
	if err != nil {
		t.Fatal(err)
	}
	if t.Logf("%d iterations", steps); steps > most {
		t.Errorf("iterations: got %d, want at most %d", steps, most)
	}
}

// loadsOnce is a driver that has room for one evaluator.
type loadsOnce struct {
	engine.Driver
	loaded int
}

func (e *loadsOnce) Load(x dataset.Examples, t engine.Task) (engine.Loaded, error) {
	if e.loaded++; e.loaded > 1 {
		return nil, engine.ErrMemory
	}
	return e.Driver.Load(x, t)
}

// A device without room for the sample is an error of the fit, and the solver still closes.
func TestNoRoomForCurvature(t *testing.T) {
	p := noisyProblem(t, 300, 5, 3)
	p.Engine = engine.New(&loadsOnce{Driver: simd.NewDriver()})
	if _, err := fitted(t, p); !errors.Is(err, engine.ErrMemory) {
		t.Errorf("error: got %v, want %v", err, engine.ErrMemory)
	}
}

// A sample of many examples has all classes, though the examples come class by class.
func TestSampleOfSortedClasses(t *testing.T) {
	const n, q = 600_000, 4
	p := &learners.Problem{X: dataset.Examples{N: n, D: 1, X: make([]float32, n)}, Q: q,
		Y: make([]int32, n), Engine: simd.New(), Seed: 1}
	for i := range p.Y {
		p.X.X[i], p.Y[i] = 1, int32(i*q/n)
	}
	c, err := newCurvature(p)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	var counts [q]int
	for _, i := range c.rows {
		counts[p.Y[i]]++
	}
	for k, count := range counts {
		if count < len(c.rows)/q-2 || len(c.rows) != leastRows {
			t.Errorf("class %d: got %d of %d examples, want a quarter of %d", k, count, len(c.rows),
				leastRows)
		}
	}
}

// TestWhole: a whole matrix is worth its time if iterations take longer, or nothing else will do.
func TestWhole(t *testing.T) {
	for _, c := range []struct {
		d, n, q      int
		mapped, want bool
	}{{512, 100, 2, false, true}, {513, 1000, 2, false, false}, {785, 60000, 10, false, true},
		{785, 20000, 10, false, false}, {2000, 6000, 10, true, true},
		{2049, 1 << 20, 10, true, false}} {
		if got := whole(c.d, c.n, c.q, c.mapped); got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}
