//go:build unix

package file

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// A read of what somebody cut off is an error that names the file, on each processor, and nothing
// else is taken for that.
func TestGuard(t *testing.T) {
	defer func(before int64) { mapFrom = before }(mapFrom)
	mapFrom = 0
	path := filepath.Join(t.TempDir(), "d.npy")
	d := &dataset.Dataset{Examples: dataset.Examples{N: 4096, D: 64, X: slices.Repeat([]float32{1},
		4096*64)}}
	if err := Write(t.Context(), path, d, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	got, err := Read(t.Context(), path, Options{NoLabels: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<16); err != nil {
		t.Fatal(err)
	}
	sum := func(from, to int) (sum float32) {
		for _, v := range got.X[from:to] {
			sum += v
		}
		return sum
	}
	want := path + ": the file cannot be read any more, at byte "
	for what, f := range map[string]func(){
		"at once":     func() { sum(0, len(got.X)) },
		"in parallel": func() { parallel.Cut(len(got.X), 4, func(_, from, to int) { sum(from, to) }) },
	} {
		done := false
		err := dataset.Guard(func() error {
			defer func() { done = true }()
			f()
			return nil
		})
		if err == nil || !strings.HasPrefix(err.Error(), want) || !done {
			t.Errorf("%s: %v, deferred: %v", what, err, done)
		}
	}
	if err := dataset.Guard(func() error { sum(0, 100); return nil }); err != nil { // what is left
		t.Error(err)
	}
	if err := dataset.Guard(func() error {
		defer got.Close()
		sum(0, len(got.X))
		return nil
	}); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("closed on the way: %v", err)
	}
	func() {
		defer func() {
			if value, ok := recover().(runtime.Error); !ok || !strings.Contains(value.Error(),
				"nil pointer") {
				t.Errorf("found %v instead of another panic", value)
			}
		}()
		dataset.Guard(func() error { _ = *(*int)(nil); return nil })
		t.Error("another panic is taken for that of a file")
	}()
	// A file that was cut short before it is looked at is refused like one that always was.
	_, err = Read(t.Context(), path, Options{NoLabels: true})
	if err == nil || !strings.HasPrefix(err.Error(), path+": ") {
		t.Error(err)
	}
}
