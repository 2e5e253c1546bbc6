//go:build unix

package file

import (
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// A window is for what lies in a file and does not fit, and only for that.
func TestWindow(t *testing.T) {
	some := randomDataset(rand.New(rand.NewPCG(1, 1)), 100, 10, []string{"a", "b"})
	if got := stored(t, some, Options{}).Pages().Window(); got != 0 {
		t.Errorf("a file that fits: window of %d examples, wanted none", got)
	}
	path, n, _ := holeyFile(t, 1000)
	d, err := Read(t.Context(), path, Options{Placement: Placement{Trust: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	before := debug.SetMemoryLimit(1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	const want = store.LeastWindow / 4000
	if got := d.Pages().Window(); got != want {
		t.Errorf("a file that does not fit: window of %d examples, wanted %d", got, want)
	}
	if got := d.Part(n/2, n/2+10).Pages().Window(); got != want {
		t.Errorf("a part of it: window of %d examples, wanted %d", got, want)
	}
	for what, e := range map[string]dataset.Examples{
		"in the heap": {N: 1 << 12, D: 1000, X: make([]float32, 1000<<12)},
		"none":        {},
		"sparse":      {N: 1, D: 1, Starts: []int64{0, 1}, Columns: []int32{0}, Values: []float32{1}},
	} {
		if got := e.Pages().Window(); got != 0 {
			t.Errorf("%s: window of %d examples, wanted none", what, got)
		}
		e.Pages().Fetch(0, min(e.N, 4))
		e.Pages().FetchSome(0, e.N, min(e.N, 1), func(int) int { return 0 })
		e.Pages().Ahead(1).Close()
	}
}
