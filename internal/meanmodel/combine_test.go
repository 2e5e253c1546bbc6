package meanmodel_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/meanmodel"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/kernelmean"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

// shards returns 400 examples of three classes of other sizes, and three parts of other shares of
// them.
func shards() (whole *dataset.Dataset, parts []*dataset.Dataset) {
	rng := rand.New(rand.NewPCG(8, 1))
	whole = &dataset.Dataset{Examples: dataset.Examples{N: 400, D: 4}, Classes: []string{"a", "b",
		"c"}}
	for range whole.N {
		k := min(2, rng.IntN(5))
		whole.Y = append(whole.Y, int32(k))
		for j := range whole.D {
			whole.X = append(whole.X, float32(rng.NormFloat64()+float64(2*((j+k)%3))))
		}
	}
	for _, cut := range [][2]int{{0, 31}, {31, 210}, {210, 400}} {
		parts = append(parts, &dataset.Dataset{Examples: whole.Part(cut[0], cut[1]),
			Y: whole.Y[cut[0]:cut[1]], Classes: whole.Classes})
	}
	return whole, parts
}

// TestCombine: exact models of shards are the exact model of all, to the bit of weights and
// scores, dense and sparse, weighed by size and alike, with C and without.
func TestCombine(t *testing.T) {
	pairwise, err := confusion.Pairwise([]string{"a", "b", "c"}, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	for _, balanced := range []bool{false, true} {
		for _, noise := range []*confusion.Matrix{nil, pairwise} {
			for _, sparse := range []bool{false, true} {
				p := kernelmean.Defaults()
				p.Balanced = balanced
				train := func(d *dataset.Dataset) *model.Model {
					if sparse {
						copied := *d
						copied.Examples = d.Compressed()
						d = &copied
					}
					m, err := host.Train(t.Context(), d, noise, host.Options{Engine: simd.New(),
						Preparation: "none",
						Kernel:      &fitting.Options{Function: kernel.Function{Kind: kernel.RBF, Gamma: 0.5}},
						Learner:     p})
					if err != nil {
						t.Fatal(err)
					}
					return m.Model
				}
				whole, parts := shards()
				want := train(whole)
				var models []*model.Model
				for _, d := range parts {
					models = append(models, train(d))
				}
				got, err := meanmodel.Combine(models)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got.W, want.W) || !slices.Equal(got.Projection.Axes, want.Projection.Axes) ||
					!slices.Equal(got.Meta.Kernel.Examples, want.Meta.Kernel.Examples) {
					t.Fatalf("balanced %v, noise %v, sparse %v: other weights than of all examples", balanced,
						noise != nil, sparse)
				}
				a, errA := got.Scores(t.Context(), simd.New(), whole.Examples)
				b, errB := want.Scores(t.Context(), simd.New(), whole.Examples)
				if err := errors.Join(errA, errB); err != nil || !slices.Equal(a, b) {
					t.Errorf("balanced %v, noise %v, sparse %v: other scores, %v", balanced, noise != nil, sparse,
						err)
				}
			}
		}
	}
}

// TestCombineFew: models of shards by few atoms have the scores of all examples but for what Lemma
// 22 says, read from a file and combined twice.
func TestCombineFew(t *testing.T) {
	whole, parts := shards()
	few := kernelmean.Defaults()
	few.AtomError, few.AtomChoice, few.AtomWeights = 0.1, "herding", "own"
	train := func(d *dataset.Dataset, p *kernelmean.Params) *model.Model {
		m, err := host.Train(t.Context(), d, nil, host.Options{Engine: simd.New(), Preparation: "none",
			Learner: p, Kernel: &fitting.Options{Function: kernel.Function{Kind: kernel.RBF, Gamma: 0.5}}})
		if err != nil {
			t.Fatal(err)
		}
		path := t.TempDir() + "/m.npz"
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		read, err := model.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		return read
	}
	exact := train(whole, kernelmean.Defaults())
	two, err := meanmodel.Combine([]*model.Model{train(parts[0], few), train(parts[1], few)})
	if err != nil {
		t.Fatal(err)
	}
	got, err := meanmodel.Combine([]*model.Model{two, train(parts[2], few)})
	if err != nil {
		t.Fatal(err)
	}
	if n := got.Projection.Landmarks.N; n > whole.N/2 {
		t.Errorf("%d atoms of %d examples", n, whole.N)
	}
	a, errA := got.Scores(t.Context(), simd.New(), whole.Examples)
	b, errB := exact.Scores(t.Context(), simd.New(), whole.Examples)
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	for i := range a { // a class's score is its share of the examples times its mean
		share := float64(exact.W[i%3*4])
		if off := math.Abs(float64(a[i]) - float64(b[i])); off > 0.1*share+1e-6 {
			t.Fatalf("score %d is %v off, wanted %v at most", i, off, 0.1*share)
		}
	}
}

// TestCombineErrors: what cannot be combined says why.
func TestCombineErrors(t *testing.T) {
	whole, parts := shards()
	gamma := float32(0.5)
	train := func(d *dataset.Dataset, p learners.Params, preparation string) *model.Model {
		o := host.Options{Engine: simd.New(), Preparation: preparation, Learner: p, MaxSteps: 3}
		if gamma > 0 {
			o.Kernel = &fitting.Options{Function: kernel.Function{Kind: kernel.RBF, Gamma: gamma}}
		}
		m, err := host.Train(t.Context(), d, nil, o)
		if err != nil {
			t.Fatal(err)
		}
		return m.Model
	}
	good, other := train(whole, kernelmean.Defaults(), "none"), whole
	other = &dataset.Dataset{Examples: parts[0].Examples, Y: parts[0].Y, Classes: []string{"a", "b",
		"d"}}
	folded, err := good.Fold()
	if err != nil {
		t.Fatal(err)
	}
	weighed := kernelmean.Defaults()
	weighed.Balanced = false
	bad := map[string]*model.Model{
		"classes": train(other, kernelmean.Defaults(), "none"), "compressed": folded,
		"preparation": train(parts[0], kernelmean.Defaults(), "maxabs"), "weights": train(parts[0],
			weighed, "none"),
		"learner": train(parts[0], uma.Defaults(), "none"),
	}
	gamma = 1
	bad["gamma"] = train(parts[0], kernelmean.Defaults(), "none")
	gamma = 0
	bad["linear"] = train(parts[0], kernelmean.Defaults(), "none")
	for what, m := range bad {
		if _, err := meanmodel.Combine([]*model.Model{good, m}); !errors.Is(err, meanmodel.ErrCombine) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := meanmodel.Combine(nil); !errors.Is(err, meanmodel.ErrCombine) {
		t.Errorf("no model: %v", err)
	}
}
