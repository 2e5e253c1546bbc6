package pca

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/shard"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/ranks"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// onRanks has each of count ranks read the file at path, its own examples alone, and do
// something with them.
func onRanks(t *testing.T, count int, path string, do func(e engine.Engine, x dataset.Stored) error,
) error {
	t.Helper()
	errs := make([]error, count)
	var wg sync.WaitGroup
	for rank, r := range ranks.NewGroup(count) {
		wg.Go(func() {
			e, err := shard.Ranks(t.Context(), r, []engine.Engine{simd.New(), simd.New()}[:1+rank%2], nil)
			if err == nil {
				err = dataset.Guard(func() error {
					d, err := file.Read(t.Context(), path, file.Options{Placement: file.Placement{Ranks: r}})
					if err == nil && !d.Stored().Shared() {
						err = errors.New("all ranks have all examples")
					}
					if err != nil {
						return err
					}
					return do(e, d.Stored())
				})
			}
			if errs[rank] = err; err != nil {
				r.Abort(err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// uneven writes examples whose kernel values differ so much in size that sums in another order
// have other bits.
func uneven(t *testing.T) (x dataset.Examples, path string) {
	t.Helper()
	const n, d = 6000, 5
	x = dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
	for i := range x.X {
		x.X[i] = float32(math.Sin(float64(i*i)) * math.Exp(float64(i/d%37)/4))
	}
	data, err := dataset.New(x, slices.Repeat([]string{"a", "b"}, n/2), nil)
	if err == nil {
		path = filepath.Join(t.TempDir(), "d.csv")
		err = file.Write(t.Context(), path, data, file.WriteOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return x, path
}

// TestRanks: ranks that share the examples find the basis of one process, each number of it, and
// each the components of its own examples.
func TestRanks(t *testing.T) {
	x, path := uneven(t)
	for name, o := range map[string]Options{
		"one panel": {Function: kernel.Function{Kind: kernel.Poly, Gamma: 0.01, Coef0: 1, Degree: 3},
			Landmarks: 40},
		"two panels": {Function: kernel.Function{Kind: kernel.RBF, Gamma: 1e-4}, Landmarks: 300},
		"cosine": {Function: kernel.Function{Kind: kernel.Linear}, Cosine: true, Landmarks: 20,
			Choice: KMeans},
		"poly, far": {Function: kernel.Function{Kind: kernel.Poly, Gamma: 1, Degree: 2}, Landmarks: 30,
			Choice: Farthest},
	} {
		o.Components = 4
		want := fit(t, simd.New(), x, o)
		z := make([]float32, x.N*4)
		if err := want.Project(t.Context(), simd.New(), z, x); err != nil {
			t.Fatal(err)
		}
		for _, count := range []int{1, 2, 3, 8} {
			err := onRanks(t, count, path, func(e engine.Engine, x dataset.Stored) error {
				got, err := Fit(t.Context(), e, x, o)
				if err != nil {
					return err
				}
				if !reflect.DeepEqual(got, want) {
					return fmt.Errorf("found another basis: variance %v, want %v; offset %v, want %v",
						got.Variance, want.Variance, got.Offset, want.Offset)
				}
				own, err := x.Like(got.Axes.Q)
				if err == nil {
					err = got.Project(t.Context(), e, own.X, x)
				}
				from, to := x.Own()
				if err == nil && !reflect.DeepEqual(own.X[from*4:to*4], z[from*4:to*4]) {
					err = errors.New("found other components")
				}
				return err
			})
			if err != nil {
				t.Errorf("%s, %d ranks: %v", name, count, err)
			}
		}
	}
}

// TestRanksOrder: the sums that go from rank to rank would have other bits in another order.
func TestRanksOrder(t *testing.T) {
	x, path := uneven(t)
	f := kernel.Function{Kind: kernel.Poly, Gamma: 0.01, Coef0: 1, Degree: 3}
	values := make([]float32, x.N*40)
	p := engine.Projection{Function: f, Landmarks: x.Part(0, 40)}
	if err := simd.New().Project(values, x, p); err != nil {
		t.Fatal(err)
	}
	want := means(values, 40)
	backwards := make([]float64, 40)
	sums := partSums(values, 40)
	for k := range sums {
		for j, v := range sums[len(sums)-1-k] {
			backwards[j] += v / float64(x.N)
		}
	}
	if reflect.DeepEqual(backwards, want) {
		t.Fatal("the order does not show in these means")
	}
	err := onRanks(t, 3, path, func(_ engine.Engine, x dataset.Stored) error {
		from, to := x.Own()
		got, err := meansOfParts(x.At, partSums(values[from*40:to*40], 40), 40, x.N)
		if err == nil && !reflect.DeepEqual(got, want) {
			err = errors.New("found other means")
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestRanksErrors: what is wrong on one rank is told on all, and who asks for examples of another
// rank gets an error.
func TestRanksErrors(t *testing.T) {
	_, path := uneven(t)
	o := Options{Function: rbf, Landmarks: 10, Components: 20}
	err := onRanks(t, 2, path, func(e engine.Engine, x dataset.Stored) error {
		_, err := Fit(t.Context(), e, x, o)
		if !errors.Is(err, ErrOptions) && !facts.Told(err, "rank 0") {
			return fmt.Errorf("found %v, want %v", err, ErrOptions)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	for name, ask := range map[string]func(e engine.Engine, x dataset.Stored) error{
		"all as landmarks": func(e engine.Engine, x dataset.Stored) error {
			return e.Project(make([]float32, x.N*x.N), x, engine.Projection{Function: rbf,
				Landmarks: x.Examples})
		},
		"all at once": func(_ engine.Engine, x dataset.Stored) error {
			return simd.New().Project(make([]float32, x.N), x.Examples, engine.Projection{Function: rbf,
				Landmarks: x.Part(0, 1)})
		},
	} {
		err := onRanks(t, 2, path, ask)
		if !facts.Told(err, "this rank") {
			t.Errorf("%s: found %v, want an error of the rank that has not the examples", name, err)
		}
	}
}
