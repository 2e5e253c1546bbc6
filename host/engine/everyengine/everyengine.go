// Package everyengine opens each engine that this build has, for tests that want the same of
// all of them.
package everyengine

import (
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// Tile is an allocation, in bytes, that cuts all but the smallest examples in tiles: it holds the
// 256 of the self-test, which evaluations take in one piece.
const Tile = 272 << 10

// Open returns the engine that defines every result, the fast one for processors, and in a
// build with OpenCL each device twice: as it is, and with allocations of 272 KiB. A build with
// OpenCL on a machine without a device fails the test. The engines are closed when it ends.
func Open(t testing.TB) []*engine.Engine {
	t.Helper()
	all := []*engine.Engine{cpuref.New(), simd.New()}
	if !gpu.Built {
		return all
	}
	infos, err := gpu.Devices()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range infos {
		for _, o := range []gpu.Options{{}, {MaxAlloc: Tile}} {
			e, err := gpu.Open(i, o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { e.Close() })
			all = append(all, e)
		}
	}
	return all
}
