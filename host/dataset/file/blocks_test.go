package file

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// Blocks of any format have the examples, labels and row numbers that Read finds, whichever class
// comes first.
func TestBlocks(t *testing.T) {
	defer func(before int) { defaultLimits.first = before }(defaultLimits.first)
	defaultLimits.first = 1
	dir := t.TempDir()
	var text, labels strings.Builder
	text.WriteString("x1,x2,x3,class\n")
	const n = segmentValues
	want := &dataset.Dataset{Examples: dataset.Examples{N: n, D: 3}, Classes: []string{"a", "b", "c"}}
	for i := range n {
		want.Y = append(want.Y, int32(2-i*3/n))
		for j := range 3 {
			want.X = append(want.X, float32((i*7+j)%100))
		}
		fmt.Fprintf(&text, "%v,%v,%v,%s\n", want.X[3*i], want.X[3*i+1], want.X[3*i+2],
			want.Classes[want.Y[i]])
		fmt.Fprintln(&labels, want.Classes[want.Y[i]])
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	bare := *want
	bare.Y, bare.Classes = nil, nil
	for name, d := range map[string]*dataset.Dataset{"x.npz": want, "x.npy": &bare, "x.svm": want} {
		if err := Write(t.Context(), at(name), d, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for name, s := range map[string]string{"x.csv": text.String(), "y.txt": labels.String()} {
		if err := os.WriteFile(at(name), []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, o := range map[string]Options{"x.csv": {Classes: want.Classes},
		"x.svm": {Classes: want.Classes}, "x.npz": {}, "x.npy": {Labels: at("y.txt")}} {
		var got dataset.Dataset
		blocks := 0
		o.Storage = "dense"
		err := Blocks(t.Context(), name, []string{at(name)}, o, func(d *dataset.Dataset) error {
			if blocks++; !slices.Equal(d.Classes, want.Classes) {
				t.Errorf("%s: block %d has the classes %q", name, blocks, d.Classes)
			}
			got.X, got.Y = append(got.X, d.X...), append(got.Y, d.Y...)
			got.Source = append(got.Source, d.Source...)
			return nil
		})
		if err != nil || blocks < 2 {
			t.Errorf("%s: %d blocks, %v", name, blocks, err)
		}
		if !slices.Equal(got.X, want.X) || !slices.Equal(got.Y, want.Y) || len(got.Source) != n ||
			got.Source[n-1] != n-1 {
			t.Errorf("%s: other examples, labels or rows than those written", name)
		}
	}
}
