//go:build cgo && !noopencl

package host_test

import (
	"testing"

	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

func init() {
	openers = append(openers, func(t *testing.T) (all []engine.Engine) {
		infos, err := gpu.Devices()
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range infos {
			// Once whole, once cut in tiles.
			for _, o := range []gpu.Options{{}, {MaxAlloc: 1 << 16}} {
				e, err := gpu.Open(i, o)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { e.Close() })
				all = append(all, e)
			}
		}
		return all
	})
}
