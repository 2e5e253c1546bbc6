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

// TestLetGo: pages that are given back have their values again, and memory that lies in no file
// keeps them.
func TestLetGo(t *testing.T) {
	raw := randomDataset(rand.New(rand.NewPCG(61, 62)), 4096, 100, []string{"a", "b"})
	path := filepath.Join(t.TempDir(), "d.umab")
	if err := Write(t.Context(), path, raw, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	d, err := Read(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	file, all := fileOf(d).raw, store.Bytes(d.X)
	want := slices.Clone(all)
	own := slices.Clone(all)
	store.LetGo(own, true)
	if !slices.Equal(own, want) {
		t.Fatal("memory of the program has lost its values")
	}
	for _, part := range [][2]int{{0, 0}, {0, 1}, {4095, 4097}, {5000, 50000}, {1, len(all)}, {0,
		len(all)}} {
		store.LetGo(all[part[0]:part[1]], false)
		if !slices.Equal(all, want) {
			t.Fatalf("bytes %d..%d: other values than before", part[0], part[1]-1)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if !store.CanReserve || file == nil {
		return
	}
	room, err := store.Reserve(len(file), 0, len(file))
	if err != nil {
		t.Fatal(err)
	}
	defer store.GiveBack([][]byte{room})
	t.Logf("where the file was is other memory now: %v", store.Address(room) == store.Address(file))
	room = room[:copy(room, want)]
	store.LetGo(room, true)
	if !slices.Equal(room, want) {
		t.Fatal("memory that lies where the file was has lost its values")
	}
	store.Remember(room, "room of ranks", true)
	store.LetGo(room, false)
	if !slices.Equal(room, want) {
		t.Fatal("memory that ranks share has lost its values")
	}
	for _, part := range [][2]int{{5, 70000}, {70000, 90001}, {123457, len(room)}} {
		store.LetGo(room[part[0]:part[1]], true)
		if !slices.Equal(room[:part[0]], want[:part[0]]) || !slices.Equal(room[part[1]:],
			want[part[1]:]) {
			t.Fatalf("bytes %d..%d: values beside the lost ones are lost", part[0], part[1]-1)
		}
		copy(room, want)
	}
}

// TestPrepareLost: what ranks have read is given back while it is prepared if nobody wants it any
// more, and stays if somebody does; the prepared values are those of one process either way.
func TestPrepareLost(t *testing.T) {
	if !store.CanReserve {
		t.Skip("this system has no memory that ranks share, so none can be given back")
	}
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
