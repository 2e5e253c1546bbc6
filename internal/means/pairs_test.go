package means

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
)

// TestPairMeans: the bits are those of an engine that computes both values of each pair, of all
// kernel functions, of dense and sparse examples, and in whatever tiles.
func TestPairMeans(t *testing.T) {
	e, rng := simd.New(), rand.New(rand.NewPCG(1, 8))
	x := dataset.Examples{N: 1100, D: 9}
	for range x.N * x.D {
		v := float32(0)
		if rng.IntN(3) == 0 {
			v = float32(rng.NormFloat64())
		}
		x.X = append(x.X, v)
	}
	w := float32(-1. / 1100)
	for _, f := range []kernel.Function{{Kind: kernel.RBF, Gamma: 0.3}, {Kind: kernel.Linear},
		{Kind: kernel.Poly, Gamma: 0.7, Coef0: -1, Degree: 3}} {
		for _, n := range []int{1, 3, 255, 256, 257, 1100} {
			for _, x := range []dataset.Examples{x.Part(0, n), x.Part(0, n).Compressed()} {
				p := engine.Projection{Function: f, Landmarks: x, Axes: engine.NewWeights(1, n)}
				for l := range p.Axes.W {
					p.Axes.W[l] = w
				}
				want := make([]float32, n)
				if err := e.Project(want, x, p); err != nil {
					t.Fatal(err)
				}
				for _, tile := range [][2]int{{256, 256}, {256, 512}, {768, 256}, {pairRows, pairColumns}} {
					got, err := pairMeans(t.Context(), e, x, f, w, tile[0], tile[1])
					if err != nil || !slices.EqualFunc(got, want, sameBits) {
						t.Errorf("%v, %d examples, sparse %v, tiles %v: other numbers, or %v", f, n, x.Sparse(), tile,
							err)
					}
				}
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := pairMeans(ctx, e, x, kernel.Function{Kind: kernel.Linear}, w, 256,
		256); !errors.Is(err, ctx.Err()) {
		t.Errorf("cancelled: %v", err)
	}
}

func sameBits(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }

func BenchmarkPairMeans(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 8))
	x := dataset.Examples{N: 12000, D: 784}
	for range x.N * x.D {
		x.X = append(x.X, rng.Float32())
	}
	f, w := kernel.Function{Kind: kernel.RBF, Gamma: 0.01}, float32(1./12000)
	p := engine.Projection{Function: f, Landmarks: x, Axes: engine.NewWeights(1, x.N)}
	for l := range p.Axes.W {
		p.Axes.W[l] = w
	}
	b.Run("pairs", func(b *testing.B) {
		for b.Loop() {
			if _, err := pairMeans(b.Context(), simd.New(), x, f, w, pairRows, pairColumns); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("projection", func(b *testing.B) {
		for b.Loop() {
			s := sample{ctx: b.Context(), e: simd.New()}
			if _, err := s.project(x, p); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("sums", func(b *testing.B) {
		values, sums := make([]float32, 4096*pairColumns), make([]float32, 4096)
		for i := range values {
			values[i] = rng.Float32()
		}
		for b.Loop() {
			addRows(sums, values, w)
			addColumns(sums[:pairColumns], values, w)
		}
	})
}
