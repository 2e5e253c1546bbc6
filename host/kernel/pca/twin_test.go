package pca

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/kernel"
)

// twin is kernel PCA by its definition, in float64 throughout: all kernel values, the
// features of the landmarks by the symmetric root, centring, all eigenvectors.
type twin struct {
	kernel  func(x, y []float32) float64
	root    *mat.Dense // K_mm^-1/2
	vectors mat.Dense
	mean    *mat.Dense
	values  []float64   // increasing
	lines   [][]float32 // the landmarks
}

func newTwin(x, landmarks [][]float32, kernel func(x, y []float32) float64) *twin {
	t := &twin{kernel: kernel, lines: landmarks}
	m := len(landmarks)
	var eigen mat.EigenSym
	k := t.kernels(landmarks)
	eigen.Factorize(mat.NewSymDense(m, k.RawMatrix().Data), true)
	var u, scaled mat.Dense
	eigen.VectorsTo(&u)
	values := eigen.Values(nil)
	scaled.Apply(func(_, j int, v float64) float64 {
		if l := values[j]; l > 1e-10 {
			return v / math.Sqrt(l)
		}
		return 0
	}, &u)
	t.root = mat.NewDense(m, m, nil)
	t.root.Mul(&scaled, u.T())
	var f, s mat.Dense
	f.Mul(t.kernels(x), t.root)
	t.mean = mat.NewDense(1, m, nil)
	for j := range m {
		t.mean.Set(0, j, mat.Sum(f.ColView(j))/float64(len(x)))
	}
	t.centre(&f)
	s.Mul(f.T(), &f)
	eigen.Factorize(mat.NewSymDense(m, s.RawMatrix().Data), true)
	eigen.VectorsTo(&t.vectors)
	t.values = eigen.Values(nil)
	return t
}

func (t *twin) kernels(x [][]float32) *mat.Dense {
	k := mat.NewDense(len(x), len(t.lines), nil)
	k.Apply(func(i, j int, _ float64) float64 { return t.kernel(x[i], t.lines[j]) }, k)
	return k
}

func (t *twin) centre(f *mat.Dense) {
	f.Apply(func(_, j int, v float64) float64 { return v - t.mean.At(0, j) }, f)
}

// component returns component c, counted from the largest eigenvalue, of each x.
func (t *twin) component(x [][]float32, c int) []float64 {
	var f mat.Dense
	f.Mul(t.kernels(x), t.root)
	t.centre(&f)
	z := mat.NewVecDense(len(x), nil)
	z.MulVec(&f, t.vectors.ColView(len(t.lines)-1-c))
	return z.RawVector().Data
}

// compare checks eigenvalues and projections of b against the twin's, up to the sign of a
// component.
func (t *twin) compare(test *testing.T, name string, b *Basis, x dataset.Examples,
	lines [][]float32) {
	test.Helper()
	d := b.Axes.Q
	z := make([]float32, x.N*d)
	if err := b.Project(context.Background(), simd.New(), z, x); err != nil {
		test.Fatal(err)
	}
	scale := math.Sqrt(t.values[len(t.values)-1])
	for c := range d {
		want := t.values[len(t.values)-1-c]
		if math.Abs(b.Eigenvalues[c]-want) > 2e-6*scale*scale {
			test.Errorf("%s: eigenvalue %d is %v, want %v", name, c, b.Eigenvalues[c], want)
		}
		if row := b.Axes.Row(c); slices.Max(row) < -slices.Min(row) {
			test.Errorf("%s: the largest entry of axis %d is negative", name, c)
		}
		component := t.component(lines, c)
		same := 0.0
		for i, v := range component {
			same += v * float64(z[i*d+c])
		}
		for i, v := range component {
			if got := math.Copysign(1, same) * float64(z[i*d+c]); math.Abs(got-v) > 2e-4*scale {
				test.Errorf("%s: component %d of example %d is %v, want %v", name, c, i, got, v)
				return
			}
		}
	}
}

// kernelOf returns the function in float64.
func kernelOf(f kernel.Function) func(x, y []float32) float64 {
	return func(x, y []float32) float64 {
		xx, xy, yy := dot64(x, x), dot64(x, y), dot64(y, y)
		switch f.Kind {
		case kernel.RBF:
			return math.Exp(-float64(f.Gamma) * (xx + yy - 2*xy))
		case kernel.Poly:
			return math.Pow(float64(f.Gamma)*xy+float64(f.Coef0), float64(f.Degree))
		}
		return xy
	}
}

// generated returns n examples of d features, a third of them 0, of unequal spread.
func generated(n, d int, seed uint64) (dataset.Examples, [][]float32) {
	rng := rand.New(rand.NewPCG(seed, 5))
	x := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
	var lines [][]float32
	for i := range n {
		for j := range d {
			if rng.IntN(3) > 0 {
				x.X[i*d+j] = float32(rng.NormFloat64()/(1+float64(j)) + 0.3)
			}
		}
		lines = append(lines, x.Row(i))
	}
	return x, lines
}

var functions = []struct {
	name string
	f    kernel.Function
}{
	{"rbf", kernel.Function{Kind: kernel.RBF, Gamma: 0.7}},
	{"poly", kernel.Function{Kind: kernel.Poly, Gamma: 0.5, Coef0: 1, Degree: 3}},
	{"linear", kernel.Function{Kind: kernel.Linear}},
}

func TestAllExamples(t *testing.T) {
	x, lines := generated(70, 7, 1)
	fresh, freshLines := generated(20, 7, 2)
	for _, c := range functions {
		for _, sparse := range []bool{false, true} {
			train, test := x, fresh
			if sparse {
				train, test = x.Compressed(), fresh.Compressed()
			}
			b, err := Fit(context.Background(), simd.New(), train, Options{Function: c.f,
				Components: 5})
			if err != nil {
				t.Fatal(err)
			}
			twin := newTwin(lines, lines, kernelOf(c.f))
			twin.compare(t, c.name, b, train, lines)
			twin.compare(t, c.name+", others", b, test, freshLines)
			all := 0.0
			for _, v := range twin.values {
				all += v
			}
			if math.Abs(b.Variance/all-1) > 1e-5 {
				t.Errorf("%s: variance %v, want %v", c.name, b.Variance, all)
			}
		}
	}
}

func TestLandmarks(t *testing.T) {
	x, lines := generated(90, 7, 3)
	for _, c := range functions {
		m := 25
		if c.f.Kind == kernel.Linear {
			m = 6 // more landmarks than dimensions would be dropped
		}
		b, err := Fit(context.Background(), simd.New(), x,
			Options{Function: c.f, Components: 4, Landmarks: m, Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		if len(b.Rows) != m || b.DroppedLandmarks != 0 {
			t.Errorf("%s: %d landmarks, %d dropped, want %d", c.name, len(b.Rows), b.DroppedLandmarks, m)
		}
		var chosen [][]float32
		for _, i := range b.Rows {
			chosen = append(chosen, lines[i])
		}
		newTwin(lines, chosen, kernelOf(c.f)).compare(t, c.name, b, x, lines)
	}
}

// Landmarks in several panels find the same as all examples do.
func TestLarge(t *testing.T) {
	x, lines := generated(panelSize+77, 9, 5)
	f := functions[0].f
	exact := newTwin(lines, lines, kernelOf(f))
	for name, o := range map[string]Options{"exact": {Function: f, Components: 12},
		"all landmarks": {Function: f, Components: 12, Landmarks: x.N}} {
		b, err := Fit(context.Background(), simd.New(), x, o)
		if err != nil {
			t.Fatal(err)
		}
		exact.compare(t, name, b, x, lines)
	}
}

func dot64(x, y []float32) float64 {
	sum := 0.0
	for i, v := range x {
		sum += float64(v) * float64(y[i])
	}
	return sum
}
