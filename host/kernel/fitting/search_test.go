package fitting_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/everyengine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/kernelmean"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

// rings draws points of the plane in three rings about the origin, which no line
// tells apart.
func rings(n int, seed uint64) (x dataset.Examples, y []int32) {
	rng := rand.New(rand.NewPCG(seed, 5))
	x = dataset.Examples{N: n, D: 2}
	for i := range n {
		k := int32(i % 3)
		radius, angle := 1+2*float64(k)+0.3*rng.NormFloat64(), 2*math.Pi*rng.Float64()
		x.X = append(x.X, float32(radius*math.Cos(angle)), float32(radius*math.Sin(angle)))
		y = append(y, k)
	}
	return x, y
}

// noisyRings draws rings with 30 % wrong labels, in the way of matrix.
func noisyRings(t *testing.T, matrix func([]string, float64) (*confusion.Matrix, error),
) (x dataset.Examples, y []int32, noise *confusion.Matrix) {
	t.Helper()
	x, clean := rings(540, 1)
	noise, err := matrix([]string{"a", "b", "c"}, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	if y, err = noise.Inject(clean, 1); err != nil {
		t.Fatal(err)
	}
	return x, y, noise
}

func errorRate(classes, y []int32) float64 {
	wrong := 0
	for i, k := range classes {
		if k != y[i] {
			wrong++
		}
	}
	return float64(wrong) / float64(len(y))
}

var ringOptions = pca.Options{Function: kernel.Function{Kind: kernel.RBF, Gamma: 0.5},
	Components: 20, Landmarks: 120, Seed: 1}

// TestKernelMap learns rings from wrong labels on every engine, with equal bits, and from
// the sparse form too.
func TestKernelMap(t *testing.T) {
	x, y, noise := noisyRings(t, confusion.Pairwise)
	test, want := rings(500, 2)
	var first []float32
	for _, e := range everyengine.Open(t) {
		for _, examples := range []dataset.Examples{x, x.Compressed()} {
			k, z, err := pca.FitMap(context.Background(), e, examples, ringOptions,
				dataset.Steps{Standardize: true, L2: true})
			if err != nil {
				t.Fatal(err)
			}
			w := train(t, e, z, y, noise)
			if first == nil {
				first = w.W
			}
			if !slices.Equal(w.W, first) {
				t.Errorf("%s: other weights", e.Device().ID)
			}
			seen, err := k.Apply(context.Background(), e, test)
			if err != nil {
				t.Fatal(err)
			}
			got, err := engine.Predict(e, w, seen)
			if err != nil {
				t.Fatal(err)
			}
			if rate := errorRate(got, want); rate > 0.03 {
				t.Errorf("%s: error rate %v", e.Device().ID, rate)
			}
		}
	}
}

func train(t *testing.T, e *engine.Engine, x dataset.Examples, y []int32,
	noise *confusion.Matrix) engine.Weights {
	t.Helper()
	p := &learners.Problem{X: x, Y: y, Q: noise.Q(), Noise: noise, Engine: e}
	result, err := host.Run(context.Background(), uma.Defaults(), p,
		host.RunOptions{MaxSteps: 100, Weights: learners.Best})
	if err != nil {
		t.Fatal(err)
	}
	return result.W
}

// TestGammaSearch finds a γ that suits the rings for a map of the learner's own, from wrong labels
// alone, and the same on all engines.
func TestGammaSearch(t *testing.T) {
	x, y, noise := noisyRings(t, confusion.Symmetric)
	var first []float64
	for _, e := range everyengine.Open(t) {
		told := 0
		f := kernel.Function{Kind: kernel.RBF}
		gammas := []float32{1e-4, 0.5, 5000}
		l := fitting.Learning{Learner: kernelmean.Defaults(), MaxSteps: 60,
			Learn: func(ctx context.Context, p *learners.Problem, maxSteps int) (engine.Weights, error) {
				result, err := host.Run(ctx, kernelmean.Defaults(), p, host.RunOptions{MaxSteps: maxSteps})
				return result.W, err
			},
			Note: func(string, ...any) { told++ }}
		p := &learners.Problem{X: x, Y: y, Q: noise.Q(), Noise: noise, Engine: e, Seed: 3}
		best, errs, err := fitting.TryGammas(t.Context(), p, l, f, gammas)
		if err != nil {
			t.Fatal(err)
		}
		// Noise of the estimate on 118 examples: about 0.06.
		if best != 0.5 || len(errs) != 3 || told != 3 || errs[1] > 0.25 || errs[2] < 0.2 {
			t.Errorf("%s: %v of %v, %d told", e.Device().ID, best, errs, told)
		}
		if first == nil {
			first = errs
		}
		if !slices.Equal(errs, first) {
			t.Errorf("%s: other trials: %+v, wanted %+v", e.Device().ID, errs, first)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, _, err := fitting.TryGammas(ctx, p, l, f, gammas); err != context.Canceled {
			t.Errorf("cancelled: %v", err)
		}
		few := p.On(x.Part(0, 3), []int32{0, 1, 2})
		if _, _, err := fitting.TryGammas(t.Context(), few, l, f, gammas); err == nil {
			t.Error("three classes of one example each were searched")
		}
	}
}
