package pca_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
)

func examples(n, d int) dataset.Examples {
	rng := rand.New(rand.NewPCG(1, 2))
	x := dataset.Examples{N: n, D: d}
	for range n * d {
		x.X = append(x.X, float32(rng.NormFloat64()))
	}
	return x
}

var (
	options = pca.Options{Function: kernel.Function{Kind: kernel.RBF, Gamma: 0.5}, Components: 6}
	steps   = dataset.Steps{Standardize: true, Bias: true, L2: true}
)

// Apply and Blocks give the same result as Fit, on each engine and in both forms of the examples,
// and the examples do not change.
func TestMap(t *testing.T) {
	x := examples(80, 4)
	before := slices.Clone(x.X)
	k, want, err := pca.FitMap(context.Background(), simd.New(), x, options, steps)
	if err != nil {
		t.Fatal(err)
	}
	if want.N != 80 || want.D != k.Preparation.Width() || want.D != 7 {
		t.Errorf("%d×%d values of a map to %d", want.N, want.D, k.Preparation.Width())
	}
	for _, e := range []*engine.Engine{simd.New(), cpuref.New()} {
		for _, x := range []dataset.Examples{x, x.Compressed()} {
			got, err := k.Apply(context.Background(), e, x)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: Apply gives other values: %v", e.Device().ID, err)
			}
			var all []float32
			err = k.Blocks(context.Background(), e, x, func(z dataset.Examples) error {
				all = append(all, z.X...)
				return nil
			})
			if err != nil || !slices.Equal(all, want.X) {
				t.Errorf("%s: Blocks gives other values: %v", e.Device().ID, err)
			}
		}
	}
	if !slices.Equal(x.X, before) {
		t.Error("the examples were changed")
	}
}

func TestMapErrors(t *testing.T) {
	x := examples(80, 4)
	k, _, err := pca.FitMap(context.Background(), simd.New(), x, options, steps)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	use := func(dataset.Examples) error { t.Error("a block is used"); return nil }
	if _, _, err := pca.FitMap(ctx, simd.New(), x, options, steps); !errors.Is(err,
		context.Canceled) {
		t.Errorf("Fit, cancelled: %v", err)
	}
	if _, err := k.Apply(ctx, simd.New(), x); !errors.Is(err, context.Canceled) {
		t.Errorf("Apply, cancelled: %v", err)
	}
	if err := k.Blocks(ctx, simd.New(), x, use); !errors.Is(err, context.Canceled) {
		t.Errorf("Blocks, cancelled: %v", err)
	}
	narrow := examples(80, 3)
	if _, err := k.Apply(context.Background(), simd.New(), narrow); !errors.Is(err, engine.ErrShape) {
		t.Errorf("Apply, one feature fewer: %v", err)
	}
	failed := errors.New("failed")
	if err := k.Blocks(context.Background(), simd.New(), x, func(dataset.Examples) error {
		return failed
	}); err != failed {
		t.Errorf("Blocks, of a use that fails: %v", err)
	}
	bad := options
	bad.Components = 80
	if m, _, err := pca.FitMap(context.Background(), simd.New(), x, bad, steps); m != nil ||
		!errors.Is(err, pca.ErrOptions) {
		t.Errorf("Fit, too many components: %v", err)
	}
}
