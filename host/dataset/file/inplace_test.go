package file

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
)

// copied returns examples that share no values with e.
func copied(e dataset.Examples) dataset.Examples {
	e.X, e.Values = slices.Clone(e.X), slices.Clone(e.Values)
	e.Columns = slices.Clone(e.Columns)
	return e
}

// TestInPlace: what is read in more than one segment has room, InPlace uses it, and without it
// nothing is written to.
func TestInPlace(t *testing.T) {
	for _, storage := range []string{"dense", "sparse"} {
		d, err := Read(t.Context(), "../../../testdata/letter.csv.gz", Options{Storage: storage,
			Table: Table{LabelColumn: "first"}})
		if err != nil {
			t.Fatal(err)
		}
		raw, steps := copied(d.Examples), dataset.Steps{MaxAbs: true, Bias: true, L2: true}
		kept := *d
		if err := features.Prepare(&kept, steps); err != nil || !equalExamples(raw, d.Examples) {
			t.Errorf("%s: a copy: %v, and raw values are others", storage, err)
		}
		first := func() *float32 {
			if d.Sparse() {
				return &d.Values[0]
			}
			return &d.X[0]
		}
		before := first()
		err = features.Prepare(d, steps, dataset.InPlace)
		room := first() == before
		if err != nil || !room || !equalExamples(d.Examples, kept.Examples) {
			t.Errorf("%s: room %v, %v, or other values than those of a copy", storage, room, err)
		}
	}
}

// TestPromisedRows: arrays have the same values and room for a bias whether the file is certain to
// hold them, so that they are read to where they stay, or not, and whatever their first rows are.
func TestPromisedRows(t *testing.T) {
	const n, d = 3000, 200
	full := &dataset.Dataset{Y: make([]int32, n), Classes: []string{"a", "b"}}
	full.Examples = dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
	for k := range full.X {
		full.X[k] = float32(k%97) + 0.5
	}
	full.Y[1] = 1
	late := *full // no values in its first half
	late.X = slices.Clone(full.X)
	clear(late.X[:n*d/2])
	for name, want := range map[string]*dataset.Dataset{"full": full, "late": &late} {
		dir := t.TempDir()
		plain, packed := filepath.Join(dir, "d.npz"), filepath.Join(dir, "d.npz.gz")
		for _, path := range []string{plain, packed} {
			if err := Write(t.Context(), path, want, WriteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		for _, path := range []string{plain, packed} {
			got, err := Read(t.Context(), path, Options{})
			if err != nil || !equalExamples(got.Examples, want.Examples) || cap(got.X) != n*d+n {
				t.Errorf("%s, %s: room for %d values, %v, or others", name, path, cap(got.X), err)
			}
		}
		text, err := os.ReadFile(plain)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(plain, text[:len(text)*2/3], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(t.Context(), plain, Options{}); err == nil {
			t.Errorf("%s: a file that is cut short is no error", name)
		}
	}
}
