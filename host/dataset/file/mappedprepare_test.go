package file

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// Prepared examples stay where they are; no others are taken for them.
func TestPrepareBy(t *testing.T) {
	raw := randomDataset(rand.New(rand.NewPCG(59, 60)), 80, 5, []string{"a", "b"})
	for k := range raw.X {
		raw.X[k] = float32(k%7) - 2
	}
	raw.SHA256 = raw.Hash()
	prepared := *raw
	if err := features.Prepare(&prepared, dataset.Steps{Standardize: true, Bias: true,
		L2: true}); err != nil {
		t.Fatal(err)
	}
	d := onDisk(t, &prepared, Options{Features: 5})
	at := &d.X[0]
	model := *prepared.Prepared
	model.B = slices.Clone(model.B)
	if err := features.PrepareBy(d, &model); err != nil || &d.X[0] != at || d.FeatureCount() != 5 ||
		d.D != 6 || d.SHA256 != raw.SHA256 {
		t.Errorf("found %v, %d×%d", err, d.N, d.D)
	}
	none := onDisk(t, raw, Options{})
	at = &none.X[0]
	if err := features.Prepare(none, dataset.Steps{}); err != nil || &none.X[0] != at ||
		none.Prepared == nil || none.D != 5 {
		t.Errorf("nothing to do: %v", err)
	}
	model.B[4] = 7
	l2 := &dataset.Preparation{Steps: dataset.Steps{L2: true}, D: 5}
	for want, err := range map[string]error{
		"standardize,bias,l2 fitted": features.PrepareBy(d, &model),
		"standardize,bias,l2 l2":     features.PrepareBy(d, l2),
		"none l2":                    features.PrepareBy(none, l2),
		"5 features 6":               features.PrepareBy(none, &dataset.Preparation{D: 6}),
		"none already":               features.Prepare(none, dataset.Steps{}),
		"standardize,bias,l2 raw": Write(t.Context(), filepath.Join(t.TempDir(), "d.csv"), d,
			WriteOptions{}),
	} {
		if !facts.Told(err, want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	parts, err := dataset.SplitCounts(d, []int{20, dataset.Rest}, 1)
	if err != nil || parts[0].Prepared == nil || parts[0].SHA256 != "" ||
		parts[0].CheckAll(t.Context()) != nil {
		t.Errorf("%v: %+v", err, parts[0])
	}
}

// onDisk returns d as it is mapped from an .npz.
func onDisk(t *testing.T, d *dataset.Dataset, o Options) *dataset.Dataset {
	t.Helper()
	defer func(before int64) { mapFrom = before }(mapFrom)
	mapFrom = 0
	path := filepath.Join(t.TempDir(), "d.npz")
	if err := Write(t.Context(), path, d, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	o.NoLabels = d.Y == nil
	mapped, err := Read(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	if !mapped.ReadOnly {
		t.Fatal("the matrix is not mapped")
	}
	t.Cleanup(func() {
		if err := mapped.Close(); err != nil {
			t.Error(err)
		}
	})
	return mapped
}
