package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// The toy of Section 4.1 of the UMA paper.
const (
	toyClasses  = 10
	toyTrain    = 1000
	toyTest     = 10000
	toyMargin   = 0.025
	toyLevels   = 20
	toyStream   = 0x746f79     // "toy": keeps these random numbers apart from others of the same seed
	noiseStream = 0x746f792d43 // "toy-C"
)

// toy is a problem of the toy experiments: points of the unit circle, each of the class whose
// vector is the nearest, by a margin.
type toy struct {
	train, test *dataset.Dataset // labels are right
	m           []float64        // M, Q×Q, columns sum to 1
}

// newToy draws a problem. Vectors that leave a class without examples, and an M
// with a level that cannot be inverted, are drawn again.
func newToy(seed uint64) (*toy, error) {
	rng := rand.New(rand.NewPCG(seed, toyStream))
	t := &toy{}
	for t.train == nil {
		w := make([][2]float64, toyClasses)
		for r := range w {
			w[r] = onCircle(rng)
		}
		train, hasAll := points(rng, w, toyTrain)
		if !hasAll {
			continue
		}
		test, hasAll := points(rng, w, toyTest)
		if hasAll {
			t.train, t.test = train, test
		}
	}
	rng = rand.New(rand.NewPCG(seed, noiseStream))
	const most = 1000 // the first matrix has always served
	for range most {
		t.m = randomColumns(rng, toyClasses)
		if t.invertible() {
			return t, nil
		}
	}
	return nil, fmt.Errorf("found %d random matrices M without an inverse at some level, wanted "+
		"one with", most)
}

// points draws n examples and says whether each class has one.
func points(rng *rand.Rand, w [][2]float64, n int) (d *dataset.Dataset, hasAll bool) {
	const tries = 100 // of points for one that is wanted; the margin leaves most of them
	x, y := make([]float32, 0, 2*n), make([]int32, 0, n)
	seen := make([]bool, len(w))
	for k := 0; len(y) < n; k++ {
		if k == tries*n {
			return nil, false
		}
		at := onCircle(rng)
		if class, margin := nearest(w, at); margin > toyMargin {
			x, y = append(x, float32(at[0]), float32(at[1])), append(y, int32(class))
			seen[class] = true
		}
	}
	for _, s := range seen {
		if !s {
			return nil, false
		}
	}
	d = &dataset.Dataset{Examples: dataset.Examples{N: n, D: 2, X: x}, Y: y,
		Classes: classNames(len(w))}
	d.SHA256 = d.Hash()
	return d, true
}

func classNames(q int) []string {
	names := make([]string, q)
	for k := range names {
		names[k] = strconv.Itoa(k)
	}
	return names
}

// onCircle draws a point of the unit circle, without an angle: sines differ between processors.
func onCircle(rng *rand.Rand) [2]float64 {
	for {
		a, b := 2*rng.Float64()-1, 2*rng.Float64()-1
		if s := float64(a*a) + float64(b*b); s > 1e-6 && s <= 1 {
			return [2]float64{a / math.Sqrt(s), b / math.Sqrt(s)}
		}
	}
}

// nearest returns the class of the largest score, and by how much it is larger than the next.
func nearest(w [][2]float64, x [2]float64) (class int, margin float64) {
	best, second := math.Inf(-1), math.Inf(-1)
	for r, v := range w {
		score := float64(v[0]*x[0]) + float64(v[1]*x[1])
		if score > best {
			class, best, second = r, score, best
		} else {
			second = max(second, score)
		}
	}
	return class, best - second
}

// randomColumns draws a q×q matrix of uniform numbers and divides its columns by their sums.
func randomColumns(rng *rand.Rand, q int) []float64 {
	m := make([]float64, q*q)
	for i := range m {
		m[i] = rng.Float64()
	}
	return columnsToOne(m, q)
}

// columnsToOne sets negative entries of a q×q matrix to 0 and divides each column by its sum,
// which is not 0.
func columnsToOne(m []float64, q int) []float64 {
	sums := make([]float64, q)
	for i, v := range m {
		m[i] = max(v, 0)
		sums[i%q] += m[i]
	}
	for i := range m {
		m[i] /= sums[i%q]
	}
	return m
}

// level returns C_i = Γ(I + i·N), N = (M − I)/10: the identity at 0, M at 10, and almost no label
// right at 20.
func (t *toy) level(i int) *confusion.Matrix {
	const q = toyClasses
	p := make([]float64, q*q)
	for k, v := range t.m {
		one := 0.0
		if k/q == k%q {
			one = 1
		}
		p[k] = one + float64(float64(i)*(v-one)/10)
	}
	return &confusion.Matrix{Classes: classNames(q), P: columnsToOne(p, q)}
}

// invertible says whether all levels are.
func (t *toy) invertible() bool {
	for i := 1; i <= toyLevels; i++ {
		if _, err := t.level(i).Invert(); err != nil {
			return false
		}
	}
	return true
}

// noisy returns the examples to train on with labels by C_i.
func (t *toy) noisy(i int, seed uint64) (*dataset.Dataset, error) {
	y, err := t.level(i).Inject(t.train.Y, seed)
	if err != nil {
		return nil, err
	}
	d := *t.train
	d.Y = y
	d.SHA256 = d.Hash()
	return &d, nil
}

// offDiagonal returns ‖C − diag(C)‖_F.
func offDiagonal(c *confusion.Matrix) float64 {
	sum, q := 0.0, c.Q()
	for k, v := range c.P {
		if k/q != k%q {
			sum += float64(v * v)
		}
	}
	return math.Sqrt(sum)
}
