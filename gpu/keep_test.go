//go:build linux && cgo && !noopencl

package gpu

import (
	"errors"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/enginetest"
)

// TestKeep: a device that was closed is taken again with the same options, and computes as a new
// one does; what was in use, or is asked for otherwise, is not.
func TestKeep(t *testing.T) {
	eachDevice(t, func(i Info) {
		end := Keep()
		opened := func(o Options) (*tested, *queue) {
			d, err := OpenDriver(i, o)
			if err != nil {
				t.Fatal(err)
			}
			e := over(d.(*deviceEngine))
			return e, e.q
		}
		first, q := opened(Options{})
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		again, same := opened(Options{})
		if same != q || again.q.work.Launches != 0 {
			t.Error("opened anew")
		}
		beside, other := opened(Options{})
		if other == q {
			t.Error("one device, two engines")
		}
		enginetest.Run(t, again.Engine, enginetest.TinyCases())
		if _, err := first.Load(dataset.Examples{N: 1, D: 1, X: []float32{1}}, 2); !errors.Is(err,
			engine.ErrClosed) {
			t.Errorf("the closed one: %v", err)
		}
		for _, e := range []*tested{beside, again} {
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if limited, other := opened(Options{MemoryLimit: 64 << 20}); other == q {
			t.Error("other options: taken")
		} else if err := limited.Close(); err != nil {
			t.Fatal(err)
		}
		if err := end(); err != nil || kept.e != nil {
			t.Errorf("at the end: %v", err)
		}
	})
}
