//go:build cgo && !noopencl

package gpu

import (
	"testing"

	"github.com/uma-gpu/uma-gpu/host/engine/enginetest"
)

// eachDevice runs f on every OpenCL device there is; none is a failure.
func eachDevice(t testing.TB, f func(Info)) {
	t.Helper()
	infos, err := Devices()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range infos {
		f(i)
	}
}

// guardBytes behind every buffer in tests.
const (
	guardBytes = 4096
	noGuard    = -1
)

func openTest(t testing.TB, i Info, o Options, b build) *gpuEngine {
	t.Helper()
	if b.sources == nil {
		var err error
		if b.sources, err = kernelSources(); err != nil {
			t.Fatal(err)
		}
	}
	switch b.guard {
	case 0:
		b.guard = guardBytes
	case noGuard:
		b.guard = 0
	}
	e, err := open(i, o, b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func TestConformance(t *testing.T) {
	eachDevice(t, func(i Info) {
		for _, v := range []struct {
			name string
			o    Options
			b    build
		}{
			{"as opened", Options{}, build{}},
			{"one lane a work-item", Options{}, build{vec: 1}},
			{"16 lanes a work-item", Options{}, build{vec: 16}},
			// One block of 16 × 1023 float32: nearly every case is cut in tiles, the
			// larger class sums in several buffers.
			{"tiles", Options{MaxAlloc: 65536}, build{}},
		} {
			t.Run(i.ID()+"/"+v.name, func(t *testing.T) {
				enginetest.Run(t, openTest(t, i, v.o, v.b))
			})
		}
	})
}

func BenchmarkEngine(b *testing.B) {
	eachDevice(b, func(i Info) {
		e, err := Open(i, Options{})
		if err != nil {
			b.Fatal(err)
		}
		defer e.Close()
		b.Run(i.ID(), func(b *testing.B) { enginetest.Benchmark(b, e) })
	})
}
