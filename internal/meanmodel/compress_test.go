package meanmodel_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/fitting"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/everyengine"
	"github.com/uma-gpu/uma-gpu/internal/meanmodel"
	"github.com/uma-gpu/uma-gpu/internal/means"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

// TestCompress folds and compresses a model of kernel components, prepared by each of the steps:
// the scores are the old ones, but for the length that l2 divides by, few landmarks predict alike,
// and the file comes back.
func TestCompress(t *testing.T) {
	x, y, noise := noisyRings(t, confusion.Pairwise)
	test, _ := rings(300, 2)
	e := simd.New()
	for _, text := range []string{"none", "maxabs,bias", "standardize,bias,l2"} {
		steps, err := dataset.ParseSteps(text)
		if err != nil {
			t.Fatal(err)
		}
		data := &dataset.Dataset{Examples: x, Y: y, Classes: noise.Classes}
		trained, err := host.Train(t.Context(), data, noise, host.Options{
			Engine: e, Learner: softmax.Defaults(), Preparation: "standardize", Seed: 3, MaxSteps: 5,
			Kernel: &fitting.Options{Function: kernel.Function{Kind: kernel.RBF, Gamma: 1}, Components: 40,
				Landmarks: 120, Steps: &steps}})
		if err != nil {
			t.Fatal(err)
		}
		m := trained.Model
		before, err := m.Scores(t.Context(), e, test)
		if err != nil {
			t.Fatal(err)
		}
		old, err := m.Predict(t.Context(), e, test)
		if err != nil {
			t.Fatal(err)
		}
		for _, atoms := range []int{0, 60} {
			small, found, err := meanmodel.Compress(t.Context(), e, m, atoms)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			after, err := small.Scores(t.Context(), e, test)
			if err != nil {
				t.Fatal(err)
			}
			now, err := small.Predict(t.Context(), e, test)
			if err != nil {
				t.Fatal(err)
			}
			far := 1e-3 * float64(slices.Max(after))
			if found != nil {
				far += slices.Max(found.Error)
			}
			changed := 0
			for i := range old {
				if old[i] != now[i] {
					changed++
				}
				ratio := 1.0 // 1 / the length that l2 divides by
				if steps.L2 {
					dot, square := 0.0, 0.0
					for k := range m.Q {
						a, b := float64(after[i*m.Q+k]), float64(before[i*m.Q+k])
						dot, square = dot+a*b, square+b*b
					}
					ratio = dot / square
				}
				for k := range m.Q {
					if off := float64(after[i*m.Q+k]) - ratio*float64(before[i*m.Q+k]); ratio < 0 ||
						math.Abs(off) > 2*far {
						t.Fatalf("%s, %d atoms: score %d of example %d is off by %v, wanted %v", text, atoms, k, i,
							off, far)
					}
				}
			}
			if changed > 3 || small.D != 3 || atoms > 0 && small.Projection.Landmarks.N > atoms {
				t.Errorf("%s, %d atoms: %d classes changed, D %d, %d landmarks", text, atoms, changed, small.D,
					small.Projection.Landmarks.N)
			}
			if gone := small.Meta.Temperature == 0; gone != steps.L2 {
				t.Errorf("%s: temperature %v, before %v", text, small.Meta.Temperature, m.Meta.Temperature)
			}
			if !steps.L2 || atoms == 0 {
				continue
			}
			path := filepath.Join(t.TempDir(), "m.npz")
			if err := small.Save(path); err != nil {
				t.Fatal(err)
			}
			read, err := model.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, other := range everyengine.Open(t) {
				again, err := read.Scores(t.Context(), other, test)
				if err != nil || !slices.Equal(again, after) {
					t.Errorf("%s: the file has other scores on %s, %v", text, other.Device().ID, err)
				}
			}
		}
		if _, _, err := meanmodel.Compress(t.Context(), e, m, 1000); !errors.Is(err, means.ErrOptions) {
			t.Errorf("more atoms than landmarks: %v", err)
		}
	}
	if _, _, err := meanmodel.Compress(t.Context(), e, &model.Model{}, 5); !errors.Is(err,
		model.ErrFold) {
		t.Errorf("a linear model: %v", err)
	}
}

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
	x, clean := rings(600, 1)
	noise, err := matrix([]string{"a", "b", "c"}, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	if y, err = noise.Inject(clean, 1); err != nil {
		t.Fatal(err)
	}
	return x, y, noise
}
