package labels

import (
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// A table that needs more memory than there is, however small it is packed, is an error that says
// so, and so is a quote that is not closed.
func TestMoreThanMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.csv.gz")
	debug.FreeOSMemory()
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	before := debug.SetMemoryLimit(int64(now.Sys-now.HeapReleased) + 24<<20)
	defer debug.SetMemoryLimit(before)
	row := func(format string) func(i int) string {
		return func(i int) string { return fmt.Sprintf(format, i) }
	}
	d := &dataset.Dataset{Examples: dataset.Examples{N: 2, D: 1, X: []float32{1, 2}}, Y: []int32{0, 1},
		Classes: []string{"a", "b"}}
	annotations := func() error {
		_, err := Annotations(t.Context(), path, nil, Options{})
		return err
	}
	for _, c := range []struct {
		what, header string
		row          func(i int) string
		rows         int
		read         func() error
		budget       bool
	}{
		{"annotations", "item,worker,label\n", row("%d,w,a\n"), 600000, annotations, true},
		{"workers", "item,worker,label\n", row("i,%d,NA\n"), 600000, annotations, true},
		{"a quote", "item,worker,label\n\"", row("%015d\n"), 1200000, annotations, false},
		{"pairs", "noisy,true\n", row("a%[1]d,b%[1]d\n"), 300000, func() error {
			_, _, _, err := Pairs(t.Context(), path)
			return err
		}, true},
		{"true classes", "row,label\n\"", row("%015d\n"), 1200000, func() error {
			_, err := Right(t.Context(), path, d)
			return err
		}, false},
	} {
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		z, _ := gzip.NewWriterLevel(f, gzip.BestSpeed) // a known level
		z.Write([]byte(c.header))
		for i := range c.rows {
			z.Write([]byte(c.row(i)))
		}
		if err := errors.Join(z.Close(), f.Close()); err != nil {
			t.Fatal(err)
		}
		err = c.read()
		if err == nil || !strings.HasPrefix(err.Error(), path) ||
			errors.Is(err, memory.ErrBudget) != c.budget {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}
