package file

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// TestWriteRows: a file of rows that are made while it is written is that of examples in memory,
// prepared or not.
func TestWriteRows(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, d *dataset.Dataset, rows func([]float32, int) error) ([]byte, error) {
		path := filepath.Join(dir, name)
		if err := Write(t.Context(), path, d, WriteOptions{Rows: rows}); err != nil {
			return nil, err
		}
		return os.ReadFile(path)
	}
	const block = 1 << 20 // values that are asked for at once
	for _, shape := range [][2]int{{1, 1}, {700, 3}, {5, block + 1}, {2100, block / 1000}} {
		raw := randomDataset(rand.New(rand.NewPCG(1, 2)), shape[0], shape[1], []string{"a", "b"})
		raw.SHA256, raw.Notes = raw.Hash(), []string{"note"}
		for _, steps := range []dataset.Steps{{}, {L2: true}, {Standardize: true, Bias: true, L2: true},
			{MaxAbs: true}} {
			whole, made := *raw, *raw
			if err := features.Prepare(&whole, steps); err != nil {
				t.Fatal(err)
			}
			want, err := write("want.npz", &whole, nil)
			if err != nil {
				t.Fatal(err)
			}
			rows, err := features.PrepareRows(&made, steps)
			if err != nil || (rows == nil) != (steps == dataset.Steps{}) {
				t.Fatalf("%v by %v: rows %v, %v", shape, steps, rows != nil, err)
			}
			if got, err := write("got.npz", &made, rows); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%v by %v: another file, %v", shape, steps, err)
			}
		}
	}
	shape := &dataset.Dataset{Examples: dataset.Examples{N: 2, D: 3}}
	fine := func([]float32, int) error { return nil }
	for want, c := range map[string]struct {
		name string
		d    *dataset.Dataset
		rows func([]float32, int) error
	}{
		"csv npz": {"x.csv", shape, fine},
		"3 values": {"x.npz", &dataset.Dataset{Examples: dataset.Examples{N: 1, D: 3,
			X: make([]float32, 3)}}, fine},
		"1 labels 2 examples": {"x.npz", &dataset.Dataset{Examples: dataset.Examples{N: 2, D: 3},
			Y: []int32{0}}, fine},
		"address space": {"x.npz", &dataset.Dataset{Examples: dataset.Examples{N: math.MaxInt / 8, D: 3}},
			fine},
		"write 0": {"x.npz", &dataset.Dataset{Examples: dataset.Examples{D: 3}}, fine},
	} {
		if _, err := write(c.name, c.d, c.rows); !facts.Told(err, want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
