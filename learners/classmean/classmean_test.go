package classmean_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/classmean"
)

const n, d, q = 400, 6, 4

// problem has classes of several sizes and lengths, and labels wrong by a matrix. The last
// feature is 1 if there is a bias column; without one, the features are about 0 on average.
func problem(t *testing.T, bias bool) (p *learners.Problem, truth []int32) {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 8))
	x := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
	for i := range n {
		c := min(q-1, rng.IntN(q+2)) // the last class is three times as large
		truth = append(truth, int32(c))
		for j := range x.Row(i) {
			x.Row(i)[j] = float32(rng.NormFloat64())
		}
		x.Row(i)[c] += 1 + float32(c)
		if bias {
			x.Row(i)[d-1] = 1
		}
	}
	for j := range d {
		mean := float32(0)
		for i := range n {
			mean += x.Row(i)[j] / n
		}
		for i := range n {
			if !bias || j < d-1 {
				x.Row(i)[j] -= mean
			}
		}
	}
	noise, err := confusion.Pairwise([]string{"a", "b", "c", "d"}, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	y, err := noise.Inject(truth, 1)
	if err != nil {
		t.Fatal(err)
	}
	return &learners.Problem{X: x, Y: y, Q: q, Noise: noise, Engine: cpuref.New()}, truth
}

func run(t *testing.T, p *learners.Problem, from []float32) host.Result {
	t.Helper()
	r, err := host.Run(t.Context(), classmean.Defaults(), p, host.RunOptions{MaxSteps: 2, From: from})
	if err != nil {
		t.Fatal(err)
	}
	if r.Steps != 1 || r.Stop != host.Converged {
		t.Errorf("%s after %d steps, wanted one step", r.Stop, r.Steps)
	}
	return r
}

// means returns the class means in float64, by a twin that solves C·z = sums for each feature with
// sums by label, and C·π = counts. Pairwise C is solved by iteration: z = (y - r·shifted z)/(1-r).
func means(p *learners.Problem) (m [q][d]float64) {
	const rate = 0.3
	unmix := func(noisy [q]float64) (clean [q]float64) {
		for range 200 {
			var next [q]float64
			for k := range q {
				next[k] = (noisy[k] - rate*clean[(k+q-1)%q]) / (1 - rate)
			}
			clean = next
		}
		return clean
	}
	var counts [q]float64
	for _, y := range p.Y {
		counts[y]++
	}
	counts = unmix(counts)
	for j := range d {
		var sums [q]float64
		for i, y := range p.Y {
			sums[y] += float64(p.X.Row(i)[j])
		}
		for c, z := range unmix(sums) {
			m[c][j] = z / counts[c]
		}
	}
	return m
}

// TestNearestMean compares predictions with a twin in float64 that measures distances to means.
// With a bias column W predicts the same; without one, in features of mean 0, it predicts the
// largest product.
func TestNearestMean(t *testing.T) {
	for _, bias := range []bool{true, false} {
		p, truth := problem(t, bias)
		r := run(t, p, nil)
		predicted, err := engine.Predict(p.Engine, r.W, p.X)
		if err != nil {
			t.Fatal(err)
		}
		m, wrong := means(p), 0
		for i, got := range predicted {
			want, best := int32(0), math.Inf(-1)
			for c := range q {
				score := 0.0
				for j, v := range p.X.Row(i) {
					score += m[c][j] * float64(v)
					if bias {
						score -= m[c][j] * m[c][j] / 2
					}
				}
				if score > best {
					want, best = int32(c), score
				}
			}
			if got != want {
				t.Errorf("bias %v: example %d is predicted as %d, its nearest mean is that of %d", bias, i, got,
					want)
			}
			if got != truth[i] {
				wrong++
			}
		}
		if wrong > n/3 {
			t.Errorf("bias %v: %d of %d predictions are wrong", bias, wrong, n)
		}
	}
}

// Weights to begin with leave no trace in the means, though the examples lie in other regions.
func TestBeginningLeavesNoTrace(t *testing.T) {
	p, _ := problem(t, true)
	cold := run(t, p, nil)
	from := make([]float32, q*d)
	for i := range from {
		from[i] = float32(i%5) - 2
	}
	warm := run(t, p, from)
	for i, v := range warm.W.W {
		if math.Float32bits(v) != math.Float32bits(cold.W.W[i]) {
			t.Fatalf("weight %d is %v, %v from W = 0", i, v, cold.W.W[i])
		}
	}
}

// A C close to singular multiplies sums beyond what float32 holds.
func TestOverflowIsAnError(t *testing.T) {
	p, _ := problem(t, true)
	for i := range p.X.X {
		p.X.X[i] *= 3e37
	}
	var err error
	if p.Noise, err = confusion.Pairwise([]string{"a", "b", "c", "d"}, 0.49999); err != nil {
		t.Fatal(err)
	}
	_, err = host.Run(t.Context(), classmean.Defaults(), p, host.RunOptions{MaxSteps: 2})
	if !facts.Told(err, "float32") {
		t.Errorf("%v, want an error about large features", err)
	}
}
