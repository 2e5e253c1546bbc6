//go:build unix

package file

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/ranks"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// TestPrepareLost: what ranks have read is given back while it is prepared if nobody wants it any
// more, and stays if somebody does; the prepared values are those of one process either way.
func TestPrepareLost(t *testing.T) {
	raw := randomDataset(rand.New(rand.NewPCG(63, 64)), 30000, 50, []string{"a", "b"})
	for k := range raw.X {
		raw.X[k] = float32(k%7) + 1
	}
	path := filepath.Join(t.TempDir(), "d.csv")
	if err := Write(t.Context(), path, raw, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, storage := range []string{"dense", "sparse"} {
		for _, steps := range []dataset.Steps{{L2: true}, {L2: true, Bias: true},
			{MaxAbs: true, Bias: true}} {
			want, err := Read(t.Context(), path, Options{Storage: storage})
			if err != nil {
				t.Fatal(err)
			}
			values := slices.Clone(valuesOf(want.Examples))
			if err := features.Prepare(want, steps); err != nil {
				t.Fatal(err)
			}
			for _, lost := range []bool{false, true} {
				all, errs := onRanks(t, 2, func(r ranks.Reducer) (*dataset.Dataset, error) {
					d, err := Read(t.Context(), path, Options{Placement: Placement{Ranks: r}, Storage: storage})
					if err != nil {
						return nil, err
					}
					before := d.Stored()
					var how []dataset.Memory
					if lost {
						how = []dataset.Memory{dataset.InPlace}
					}
					if err := features.Prepare(d, steps, how...); err != nil {
						return nil, err
					}
					from, to := ownValues(before)
					kept := bytes.Equal(store.Bytes(valuesOf(before.Examples)[from:to]),
						store.Bytes(values[from:to]))
					if kept == lost && (!lost || runtime.GOOS == "linux") {
						t.Errorf("%s, %s, lost %v: the raw values are there: %v", storage, steps, lost, kept)
					}
					return d, nil
				})
				for rank, d := range all {
					if errs[rank] != nil {
						t.Fatal(errs[rank])
					}
					from, to := ownValues(d.Stored())
					if !slices.Equal(valuesOf(d.Examples)[from:to], valuesOf(want.Examples)[from:to]) ||
						d.Sparse() && !slices.Equal(d.Columns[from:to], want.Columns[from:to]) {
						t.Errorf("%s, %s, lost %v: prepared otherwise than by one process", storage, steps, lost)
					}
					if err := d.Close(); err != nil {
						t.Error(err)
					}
				}
			}
		}
	}
}

// valuesOf returns the values of e, in whichever storage.
func valuesOf(e dataset.Examples) []float32 {
	if e.Sparse() {
		return e.Values
	}
	return e.X
}

// ownValues returns where in valuesOf those of this rank are.
func ownValues(e dataset.Stored) (from, to int) {
	from, to = e.Own()
	if e.Sparse() {
		return int(e.Starts[from]), int(e.Starts[to])
	}
	return from * e.D, to * e.D
}
