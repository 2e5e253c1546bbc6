//go:build linux && cgo && !noopencl

package gpu

import (
	"errors"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// A device has room for its self-test, or the error says how much that takes.
func TestSelfTestInLittleMemory(t *testing.T) {
	eachDevice(t, func(i Info) {
		opened := map[bool]int{}
		for size := int64(1 << 10); size <= selfTestMemory; size *= 4 {
			for _, o := range []Options{{MemoryLimit: size}, {MaxAlloc: size}} {
				e, err := Open(i, o)
				opened[err == nil]++
				switch {
				case err == nil:
					if err := e.Close(); err != nil {
						t.Error(err)
					}
				case size == selfTestMemory || !errors.Is(err, engine.ErrMemory) ||
					!facts.Told(err, "1024 KiB"):
					t.Errorf("%s with %+v: %v", i.ID(), o, err)
				}
			}
		}
		if opened[true] == 0 || opened[false] == 0 {
			t.Errorf("%s: opened: %v", i.ID(), opened)
		}
	})
}
