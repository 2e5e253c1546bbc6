package model

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/shard"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/host/ranks"
)

// TestPredictRanks: ranks predict their own examples, a block after the other, and get what one
// process does of all, by models with a kernel map and without one.
func TestPredictRanks(t *testing.T) {
	defer func(values int) { predictedValues = values }(predictedValues)
	predictedValues = 500
	const n, d, q = 3000, 5, 3
	x := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
	for k := range x.X {
		x.X[k] = float32(k*k%101) / 50
	}
	data, err := dataset.New(x, slices.Repeat([]string{"a", "b", "c"}, n/q), nil)
	path := filepath.Join(t.TempDir(), "d.csv")
	if err == nil {
		err = file.Write(t.Context(), path, data, file.WriteOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	linear := &Model{Q: q, D: d}
	curved := &Model{Q: q, D: 4}
	o := pca.Options{Function: kernel.Function{Kind: kernel.RBF, Gamma: 0.5}, Landmarks: 20,
		Components: 4}
	k, _, err := pca.FitMap(t.Context(), simd.New(), x, o, dataset.Steps{L2: true})
	if err != nil {
		t.Fatal(err)
	}
	curved.SetMap(k)
	for _, m := range []*Model{linear, curved} {
		m.Meta.Preparation = dataset.Preparation{D: d, Steps: dataset.Steps{}}
		m.W = make([]float32, q*m.D)
		for k := range m.W {
			m.W[k] = float32(k*7%11) - 5
		}
		classes, err := m.Predict(t.Context(), simd.New(), x)
		if err != nil {
			t.Fatal(err)
		}
		scores, err := m.Scores(t.Context(), simd.New(), x)
		if err != nil {
			t.Fatal(err)
		}
		for _, count := range []int{2, 3, 5} {
			errs := make([]error, count)
			var wg sync.WaitGroup
			for rank, r := range ranks.NewGroup(count) {
				wg.Go(func() {
					errs[rank] = dataset.Guard(func() error {
						return samePredictions(t, r, path, m, classes, scores)
					})
					if errs[rank] != nil {
						r.Abort(errs[rank])
					}
				})
			}
			wg.Wait()
			if err := errors.Join(errs...); err != nil {
				t.Errorf("%d ranks, %d columns: %v", count, m.D, err)
			}
		}
	}
}

// samePredictions wants of a rank what m says of all examples of a file.
func samePredictions(t *testing.T, r ranks.Reducer, path string, m *Model, classes []int32,
	scores []float32) error {
	e, err := shard.Ranks(t.Context(), r, []engine.Engine{simd.New()}, nil)
	if err != nil {
		return err
	}
	d, err := file.Read(t.Context(), path, file.Options{Placement: file.Placement{Ranks: r}})
	if err != nil {
		return err
	}
	if !d.Stored().Shared() {
		return errors.New("all ranks have all examples")
	}
	got, err := m.Predict(t.Context(), e, d)
	if err != nil || !slices.Equal(got, classes) {
		return fmt.Errorf("found other classes, %v", err)
	}
	all, err := m.Scores(t.Context(), e, d)
	if err != nil || !slices.Equal(all, scores) {
		return fmt.Errorf("found other scores, %v", err)
	}
	return nil
}
