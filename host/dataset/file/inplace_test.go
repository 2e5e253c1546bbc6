package file

import (
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
	for _, storage := range []string{"dense"} {
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
