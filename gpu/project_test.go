//go:build linux && cgo && !noopencl

package gpu

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/enginetest"
	"github.com/uma-gpu/uma-gpu/host/kernel"
)

// drawProjection has more rows than a tile of a small memory, more landmarks than a chunk.
func drawProjection() (x dataset.Examples, p engine.Projection) {
	rng := rand.New(rand.NewPCG(8, 9))
	draw := func(n, d int) dataset.Examples {
		e := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
		for k := range e.X {
			if rng.IntN(3) > 0 {
				e.X[k] = float32(rng.NormFloat64())
			}
		}
		return e
	}
	const n, d, m, axes = 1001, 300, 270, 70
	a := draw(axes, m)
	return draw(n, d), engine.Projection{
		Function:  kernel.Function{Kind: kernel.RBF, Gamma: 0.01},
		Landmarks: draw(m, d), Axes: engine.Weights{Q: axes, D: m, W: a.X}, Offset: draw(1, axes).X,
	}
}

// TestProjectInLittleMemory has tiles of every size, down to what does not fit.
func TestProjectInLittleMemory(t *testing.T) {
	x, p := drawProjection()
	want := make([]float32, x.N*p.Width())
	if err := cpuref.New().Project(want, x, p); err != nil {
		t.Fatal(err)
	}
	sparse := x.Compressed()
	eachDevice(t, func(i Info) {
		fitted := 0
		for _, o := range []Options{
			{}, {MaxAlloc: 384000}, {MaxAlloc: 383999}, {MaxAlloc: 500000}, {MemoryLimit: 700000},
			{MemoryLimit: 1 << 20}, {MemoryLimit: 3 << 20}, {MemoryLimit: 400000}, {MemoryLimit: 1},
			{MaxAlloc: 1, MemoryLimit: 1 << 20},
		} {
			e := openTest(t, i, o, build{})
			for _, form := range []dataset.Examples{x, sparse} {
				got := make([]float32, len(want))
				err := e.Project(got, form, p)
				switch {
				case err == nil && !slices.Equal(got, want):
					t.Errorf("%s, %+v, sparse %v: the numbers differ from cpuref's", i.ID(), o, form.Sparse())
				case err == nil:
					fitted++
				case !errors.Is(err, engine.ErrMemory):
					t.Errorf("%s, %+v, sparse %v: %v", i.ID(), o, form.Sparse(), err)
				}
				if e.q.inUse != 0 {
					t.Errorf("%s, %+v: %d bytes are in use afterwards", i.ID(), o, e.q.inUse)
				}
			}
		}
		if fitted < 8 || fitted > 14 {
			t.Errorf("%s: %d projections fit, of 20", i.ID(), fitted)
		}
	})
}

// TestVectors has vectors of the width that the processor does not have, or half of it.
func TestVectors(t *testing.T) {
	cases := slices.DeleteFunc(enginetest.Cases(), func(c enginetest.Case) bool {
		return !strings.HasPrefix(c.Name, "project") && !isEvaluation(c)
	})
	eachDevice(t, func(i Info) {
		enginetest.Run(t, openTest(t, i, Options{}, build{style: "cpu", width: 8}).Engine, cases)
	})
}
