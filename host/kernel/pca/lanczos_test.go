package pca

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// T of the Lanczos process is QᵀMQ, Q is orthonormal, and the basis ends when it spans all.
func TestLanczos(t *testing.T) {
	for _, c := range []struct {
		name     string
		n, steps int
		value    func(i int) float64
	}{
		{"decreasing", 400, 128, func(i int) float64 { return 100 / float64(1+i*i) }},
		{"two vectors", 300, 64, func(i int) float64 { return float64(max(0, 2-i)) }},
		{"all dimensions", 100, 1000, func(i int) float64 { return 1 / float64(1+i) }},
		{"multiples of one", 90, 1000, func(i int) float64 { return 3 }},
	} {
		m := symmetric(c.n, c.value)
		e := simd.New()
		r, err := e.Load(m, blockSize)
		if err != nil {
			t.Fatal(err)
		}
		l, err := newLanczos(t.Context(), e, matrix{n: c.n, values: r}, 1)
		if err != nil {
			t.Fatal(err)
		}
		for !l.exhausted && l.q.count < c.steps {
			if err := l.extend(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		k := l.q.count
		if l.exhausted != (c.steps > c.n) || k > c.n+blockSize {
			t.Errorf("%s: %d of %d dimensions, exhausted %v", c.name, k, c.n, l.exhausted)
		}
		worst, skew := 0.0, 0.0
		for i := range k {
			qi := l.q.panels[i/panelSize].byVector.Row(i % panelSize)
			mq := make([]float64, c.n)
			for j := range mq {
				mq[j] = dot64(m.Row(j), qi)
			}
			for j := range i + 1 {
				qj := l.q.panels[j/panelSize].byVector.Row(j % panelSize)
				want, length := 0.0, dot64(qi, qj)
				for h, v := range qj {
					want += float64(v) * mq[h]
				}
				got := 0.0
				if i-j <= blockSize {
					got = l.t.a[j*(blockSize+1)+i-j]
				}
				worst = max(worst, math.Abs(got-want))
				if i == j && length > 0.5 {
					length--
				}
				skew = max(skew, math.Abs(length))
			}
		}
		if worst > 1e-5*c.value(0) || skew > 1e-6 {
			t.Errorf("%s: T is off by %g, the basis by %g", c.name, worst, skew)
		}
	}
}

func dot64(x, y []float32) float64 {
	sum := 0.0
	for i, v := range x {
		sum += float64(v) * float64(y[i])
	}
	return sum
}

// symmetric returns an n×n matrix with the given eigenvalues, as examples.
func symmetric(n int, value func(i int) float64) dataset.Examples {
	rng := rand.New(rand.NewPCG(1, 2))
	a := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			a.Set(i, j, rng.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(a)
	var q, s mat.Dense
	qr.QTo(&q)
	d := mat.NewDiagDense(n, nil)
	for i := range n {
		d.SetDiag(i, value(i))
	}
	s.Product(&q, d, q.T())
	x := dataset.Examples{N: n, D: n, X: make([]float32, n*n)}
	for i := range n {
		for j := range i + 1 {
			v := float32(s.At(i, j))
			x.X[i*n+j], x.X[j*n+i] = v, v
		}
	}
	return x
}

// A band matrix has the same eigenpairs as the same matrix decomposed as a whole.
func TestBand(t *testing.T) {
	const width = 4
	rng := rand.New(rand.NewPCG(3, 4))
	for _, blocks := range []int{1, 2, 9} {
		b := &band{width: width}
		for range blocks {
			r, c := make([]float64, width*width), make([]float64, width*width)
			for i := range width {
				for j := range width {
					c[i*width+j] = rng.NormFloat64()
					if j >= i {
						r[i*width+j] = rng.NormFloat64()
					}
				}
			}
			b.extend(r)
			b.diagonal(c)
		}
		whole := mat.NewSymDense(b.n, nil)
		for j := range b.n {
			for o := range min(width, b.n-1-j) + 1 {
				whole.SetSym(j+o, j, b.a[j*(width+1)+o])
			}
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(whole, true) {
			t.Fatal("no eigenvalues")
		}
		values := b.eigenvalues()
		for i, v := range b.vectors(values) {
			if want := eigen.Values(nil)[b.n-1-i]; math.Abs(values[i]-want) > 1e-12 {
				t.Errorf("n = %d: eigenvalue %d is %v, want %v", b.n, i, values[i], want)
			}
			x := mat.NewVecDense(b.n, v)
			var y mat.VecDense
			y.MulVec(whole, x)
			y.AddScaledVec(&y, -values[i], x)
			if r := mat.Norm(&y, 2); r > 1e-12 || math.Abs(mat.Norm(x, 2)-1) > 1e-12 {
				t.Errorf("n = %d: residual of eigenvector %d is %g, its length %v", b.n, i, r, mat.Norm(x, 2))
			}
		}
	}
}

// Eigenvectors of equal eigenvalues are orthogonal.
func TestBandEqualEigenvalues(t *testing.T) {
	b := &band{width: 2}
	for range 3 {
		b.extend(make([]float64, 4))
		b.diagonal([]float64{2, 1, 1, 2})
	}
	values := b.eigenvalues()
	vectors := b.vectors(values)
	for i, v := range vectors {
		for j, w := range vectors[:i] {
			if got := dot(v, w); math.Abs(got) > 1e-12 {
				t.Errorf("eigenvectors %d and %d of %v and %v have the product %g", i, j, values[i], values[j],
					got)
			}
		}
	}
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += float64(v * y[i])
	}
	return sum
}
