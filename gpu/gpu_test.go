//go:build cgo && !noopencl

package gpu

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
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
			name  string
			o     Options
			b     build
			cases []enginetest.Case
		}{
			{"as opened", Options{}, build{}, append(enginetest.Cases(), enginetest.WideCases()...)},
			{"one lane a work-item", Options{}, build{vec: 1}, enginetest.Cases()},
			{"16 lanes a work-item", Options{}, build{vec: 16}, enginetest.Cases()},
			// Little more than a block of 16 × 1090 float32: nearly every case is cut in
			// tiles, the larger class sums in several buffers.
			{"tiles", Options{MaxAlloc: 70000}, build{}, enginetest.Cases()},
		} {
			t.Run(i.ID()+"/"+v.name, func(t *testing.T) {
				enginetest.Run(t, openTest(t, i, v.o, v.b), v.cases)
			})
		}
	})
}

func TestTooLittleMemoryForTheSelfTest(t *testing.T) {
	eachDevice(t, func(i Info) {
		if _, err := Open(i, Options{MaxAlloc: 1000}); !errors.Is(err, engine.ErrMemory) || strings.Contains(err.Error(), "refused") {
			t.Errorf("%s: %v, want %v", i.ID(), err, engine.ErrMemory)
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

// TestMoreThanOneAllocation has examples that no single buffer of the device
// holds (or 64 MiB, where the device is generous), and compares with cpuref.
func TestMoreThanOneAllocation(t *testing.T) {
	eachDevice(t, func(i Info) {
		limit := min(i.MaxAlloc, 64<<20)
		if i.MaxAlloc <= 256<<20 {
			limit = i.MaxAlloc // POCL_MEMORY_LIMIT=1: the real limit
		}
		const d, q = 250, 3
		n := int(limit/(4*d)) * 5 / 4
		x := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
		y := make([]int32, n)
		rng := rand.New(rand.NewPCG(3, 4))
		for j := range x.X {
			x.X[j] = float32(int32(rng.Uint32())>>8) * 0x1p-23
		}
		for j := range y {
			y[j] = int32(rng.IntN(q))
		}
		w := engine.NewWeights(q, d)
		for j := range w.W {
			w.W[j] = float32(rng.NormFloat64())
		}
		inv := []float32{1.5, -0.25, -0.25, -0.25, 1.5, -0.25, -0.25, -0.25, 1.5}
		e := openTest(t, i, Options{MaxAlloc: limit}, build{guard: noGuard})
		var answers [2][]float32
		var counts [2]engine.Assignment
		for k, e := range []engine.Engine{cpuref.New(), e} {
			r, err := e.Load(x, y, q)
			if err != nil {
				t.Fatal(err)
			}
			if g, ok := r.(*resident); ok && len(g.tiles) < 2 {
				t.Fatalf("%d tiles, want several", len(g.tiles))
			}
			if err := r.Rescore(w, []int{0, 1, 2}); err != nil {
				t.Fatal(err)
			}
			if counts[k], err = r.Assign(0.5); err != nil {
				t.Fatal(err)
			}
			answers[k] = make([]float32, n*q+q*q+d)
			for _, err := range []error{
				r.Scores(answers[k][:n*q], 0, n),
				r.Norms(answers[k][n*q:n*q+q*q], inv),
				r.UpdateVectors(answers[k][n*q+q*q:], []engine.Pair{{P: 1, Q: 2}}, inv),
				r.Close(),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		if !slices.Equal(answers[0], answers[1]) || !reflect.DeepEqual(counts[0], counts[1]) {
			t.Errorf("%s: %d examples in tiles differ from cpuref", i.ID(), n)
		}
	})
}
