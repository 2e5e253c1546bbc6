//go:build unix

package file

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
)

// TestSpill: examples that are kept in files while they are read have the values that they have in
// memory, and can be prepared where they are; no file is left.
func TestSpill(t *testing.T) {
	before := spillFrom
	spillFrom = 1
	defer func() { spillFrom = before }()
	dir, temporary := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	// several segments
	d := randomDataset(rand.New(rand.NewPCG(5, 6)), 70000, 9, []string{"a", "b", "c"})
	words := filepath.Join(dir, "words.csv")
	line := "red,1,,one two,x\nblue,,3,two,y\n,2.5,4,three,x\n"
	if err := os.WriteFile(words, []byte("c,n,m,t,class\n"+strings.Repeat(line, 30000)),
		0o600); err != nil {
		t.Fatal(err)
	}
	table := Options{Table: Table{Encode: &features.EncodeOptions{Missing: "indicator",
		Text: features.TextOptions{Columns: []string{"t"}}}}}
	cases := map[string]Options{words: table}
	for _, name := range []string{"d.csv", "d.svm", "d.npz", "d.umab", "d.csv.gz"} {
		path := filepath.Join(dir, name)
		if err := Write(t.Context(), path, d, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		cases[path] = Options{}
	}
	for path, o := range cases {
		for _, storage := range []string{"dense", "sparse", "auto"} {
			o.Storage, o.Spill = storage, false
			want, err := Read(t.Context(), path, o)
			if err != nil {
				t.Fatal(err)
			}
			o.Spill = true
			got, err := Read(t.Context(), path, o)
			if err != nil {
				t.Fatal(err)
			}
			if got.Home == nil && !strings.HasSuffix(path, ".umab") {
				t.Errorf("%s: nothing was kept in a file", path)
			}
			if !equalExamples(got.Examples, want.Examples) || !reflect.DeepEqual(got.Y, want.Y) ||
				got.SHA256 != want.SHA256 || !reflect.DeepEqual(got.Encoding, want.Encoding) {
				t.Errorf("%s, %s: other examples than in memory", path, storage)
			}
			steps := dataset.Steps{L2: true, Bias: true}
			if err := features.Prepare(want, steps); err != nil {
				t.Fatal(err)
			}
			if err := features.Prepare(got, steps, dataset.InPlace); err != nil ||
				!equalExamples(got.Examples, want.Examples) {
				t.Errorf("%s, %s: prepared otherwise than in memory: %v", path, storage, err)
			}
			want.Close()
			if err := got.Close(); err != nil || got.X != nil || got.Values != nil {
				t.Errorf("%s: closed: %v", path, err)
			}
		}
	}
	if left, _ := os.ReadDir(temporary); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	t.Setenv("TMPDIR", filepath.Join(temporary, "none"))
	got, err := Read(t.Context(), filepath.Join(dir, "d.csv"),
		Options{Placement: Placement{Spill: true}})
	if err != nil || got.Home != nil || got.N != d.N {
		t.Errorf("without a folder: %v", err)
	}
}
