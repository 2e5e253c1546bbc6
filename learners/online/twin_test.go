package online_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/online"
)

// clouds are classes that overlap, in more columns than one chunk has; half of the values are 0.
func clouds(n, d, q int) *learners.Problem {
	rng := rand.New(rand.NewPCG(uint64(q), 77))
	p := &learners.Problem{Q: q, Engine: cpuref.New(), Seed: 9, X: dataset.Examples{N: n, D: d,
		X: make([]float32, n*d)}}
	for i := range n {
		y := int(rng.ExpFloat64()*2) % q // the first are more
		p.Y = append(p.Y, int32(y))
		row := p.X.Row(i)
		for j := range row {
			if rng.IntN(2) == 0 {
				row[j] = float32(rng.NormFloat64()) / 16
			}
		}
		row[y] += 0.4
	}
	return p
}

// inOrderOf returns parameters of a learner that takes the examples in their order, with an average
// unless last is set.
func inOrderOf(name string, last bool, change func(p *online.Params)) *online.Params {
	p := online.New(name)
	p.NoShuffle, p.NoAverage = true, last
	if change != nil {
		change(p)
	}
	return p
}

// train returns the weights after a number of passes.
func train(t *testing.T, params learners.Params, p *learners.Problem, passes int) []float32 {
	t.Helper()
	r, err := host.Run(t.Context(), params, p, host.RunOptions{MaxSteps: passes})
	if err != nil {
		t.Fatal(err)
	}
	return r.W.W
}

// tauOf is how a twin finds τ of an example: of its scores s, label y and squared length.
type tauOf func(s []float64, y int, norm2 float64) []float64

// twin is any learner of the family, as simple as can be: it returns W, row-major, and the mean
// of all W up to the first pass in which nothing was added, which does not count. Sums are those
// of clause 1, without a line of package numerics but fma.
func twin(p *learners.Problem, order []int, passes int, tau tauOf) (w []float32, mean []float64) {
	d := p.X.D
	w, mean = make([]float32, p.Q*d), make([]float64, p.Q*d)
	dot := func(x, w []float32) (total float32) {
		for from := 0; from < d; from += 256 {
			acc := float32(0)
			for j := from; j < min(d, from+256); j++ {
				acc = numerics.FMA(x[j], w[j], acc)
			}
			total += acc
		}
		return total
	}
	seen := 0
	for range passes {
		sum, added := slices.Clone(mean), false
		for _, i := range order {
			x, s := p.X.Row(i), make([]float64, p.Q)
			for r := range s {
				s[r] = float64(dot(x, w[r*d:(r+1)*d]))
			}
			for r, t := range tau(s, int(p.Y[i]), float64(dot(x, x))) {
				added = added || t != 0
				for j, v := range x {
					w[r*d+j] = numerics.FMA(float32(t), v, w[r*d+j])
				}
			}
			for k, v := range w {
				sum[k] += float64(v)
			}
		}
		if !added {
			break
		}
		mean, seen = sum, seen+len(order)
	}
	for k := range mean {
		mean[k] /= float64(seen)
	}
	return w, mean
}

// inOrder are 0 … n-1.
func inOrder(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// judge compares a learner with its twin: the last weights have the same bits, from dense and
// from sparse examples; the mean is the mean, but for roundings. params makes the learner without
// an average or with one, in the order of the examples.
func judge(t *testing.T, p *learners.Problem, params func(noAverage bool) learners.Params,
	tau func() tauOf) {
	t.Helper()
	const passes = 3
	w, mean := twin(p, inOrder(p.X.N), passes, tau())
	sparse := *p.On(p.X.Compressed(), p.Y)
	sparse.Seed = p.Seed
	for storage, on := range map[string]*learners.Problem{"dense": p, "sparse": &sparse} {
		largest := 0.0
		for k, v := range train(t, params(true), on, passes) {
			largest = max(largest, math.Abs(float64(v)))
			if math.Float32bits(v) != math.Float32bits(w[k]) {
				t.Fatalf("%s: weight %d is %v, the twin's %v", storage, k, v, w[k])
			}
		}
		if largest == 0 {
			t.Fatalf("%s: nothing was learned", storage)
		}
		for k, v := range train(t, params(false), on, passes) {
			if math.Abs(float64(v)-mean[k]) > 1e-6*largest {
				t.Fatalf("%s: mean weight %d is %v, the twin's %v", storage, k, v, mean[k])
			}
		}
	}
}
