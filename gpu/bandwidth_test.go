//go:build cgo && !noopencl

package gpu

import (
	"errors"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

func TestCopyBandwidth(t *testing.T) {
	eachDevice(t, func(i Info) {
		for _, o := range []Options{{}, {MaxAlloc: 100}, {MemoryLimit: 1 << 20}} {
			e := openTest(t, i, o, build{})
			if rate, err := CopyBandwidth(e); err != nil || !(rate > 0) {
				t.Errorf("%s, %+v: found %v, %v", i.ID(), o, rate, err)
			}
			if e.q.inUse != 0 {
				t.Errorf("%s, %+v: %d bytes are still in use", i.ID(), o, e.q.inUse)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			if _, err := CopyBandwidth(e); !errors.Is(err, engine.ErrClosed) {
				t.Errorf("closed: found %v, want ErrClosed", err)
			}
		}
	})
	if _, err := CopyBandwidth(cpuref.New()); err == nil {
		t.Error("an engine of another package was measured")
	}
}
