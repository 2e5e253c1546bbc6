//go:build linux && cgo && !noopencl

package gpu

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/gpu/kernels"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/enginetest"
	"github.com/uma-gpu/uma-gpu/host/numerics"
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

// tested is an engine over a device, with its driver, which tests look at.
type tested struct {
	*engine.Engine
	*deviceEngine
	last *resident // loaded
}

// Methods that both have are the engine's.
func (e *tested) Close() error { return e.Engine.Close() }

func (e *tested) Device() engine.Device { return e.Engine.Device() }

func (e *tested) Load(x dataset.Examples, classes int) (*engine.Scorer, error) {
	return e.Engine.Load(x, classes)
}

func (e *tested) Project(dst []float32, x dataset.Examples, p engine.Projection) error {
	return e.Engine.Project(dst, x, p)
}

// watched is a device that notes what was loaded last.
type watched struct {
	*deviceEngine
	by *tested
}

func (w watched) Load(x dataset.Examples, t engine.Task) (engine.Loaded, error) {
	loaded, err := w.deviceEngine.Load(x, t)
	w.by.last, _ = loaded.(*resident)
	return loaded, err
}

// over returns an engine over a device.
func over(e *deviceEngine) *tested {
	t := &tested{deviceEngine: e}
	t.Engine = engine.New(watched{e, t})
	return t
}

func openTest(t testing.TB, i Info, o Options, b build) *tested {
	t.Helper()
	if b.sources == nil {
		var err error
		if b.sources, err = kernels.Sources(); err != nil {
			t.Fatal(err)
		}
	}
	if b.style == "gpu" && b.group == 0 {
		b.group = 16 // kernels are compiled for each size of a work-group
	}
	switch b.guard {
	case 0:
		b.guard = guardBytes
	case noGuard:
		b.guard = 0
	}
	d, err := open(i, o, b)
	if err != nil {
		t.Fatal(err)
	}
	e := over(d)
	t.Cleanup(func() { e.Close() })
	return e
}

func TestConformance(t *testing.T) {
	short := enginetest.TinyCases()
	// Projection knows nothing of how examples are loaded.
	loaded := slices.DeleteFunc(enginetest.Cases(), func(c enginetest.Case) bool {
		return strings.HasPrefix(c.Name, "project")
	})
	eachDevice(t, func(i Info) {
		processor := openTest(t, i, Options{}, build{}).cpu
		for _, v := range []struct {
			name  string
			o     Options
			b     build
			cases []enginetest.Case
		}{
			{"as opened", Options{}, build{}, enginetest.AllCases()},
			{"as on a GPU", Options{}, build{style: "gpu"}, enginetest.Cases()},
			{"as on a GPU of Intel", Options{}, build{style: "gpu", shape: shape{steps: 2}},
				enginetest.Cases()},
			{"as on a large GPU of Intel", Options{}, build{style: "gpu", shape: shape{steps: 4}},
				short},
			{"as on a CPU", Options{}, build{style: "cpu"}, enginetest.Cases()},
			{"as on a GPU, rows of work-groups one by one", Options{}, build{style: "gpu", height: 1}, short},
			{"rows of work-groups in pairs", Options{}, build{height: 2}, short},
			// Little more than 16 × 1090 float32: nearly every case is cut in tiles.
			{"tiles", Options{MaxAlloc: 76000}, build{}, inLittleMemory(loaded)},
			{"streamed", Options{MaxAlloc: 76000}, build{stream: true},
				inLittleMemory(loaded)},
			{"streamed, as on a GPU", Options{MaxAlloc: 76000}, build{style: "gpu", stream: true},
				inLittleMemory(loaded)},
			{"evaluations in one range", Options{}, build{style: "cpu", ranges: 1},
				enginetest.EvaluationCases()},
			{"evaluations in few ranges", Options{}, build{style: "cpu", ranges: 3},
				enginetest.EvaluationCases()},
		} {
			if v.name == "as on a CPU" && processor {
				continue // "as opened" is the same engine, and has more cases
			}
			t.Run(i.ID()+"/"+v.name, func(t *testing.T) {
				t.Parallel()
				e := openTest(t, i, v.o, v.b)
				enginetest.Run(t, e.Engine, v.cases)
			})
		}
	})
}

// TestContraction has the compiler fuse products and sums wherever it may: no bit of the kernels
// depends on it. That it does fuse shows where a product is not written as one that cannot be.
func TestContraction(t *testing.T) {
	fused := func(sources []string) []string {
		for k, text := range sources {
			sources[k] = strings.ReplaceAll(text, "#pragma OPENCL FP_CONTRACT OFF",
				"#pragma clang fp contract(fast)")
		}
		return sources
	}
	eachDevice(t, func(i Info) {
		for _, style := range []string{"cpu", "gpu"} {
			sources, err := kernels.Sources()
			if err != nil {
				t.Fatal(err)
			}
			e := openTest(t, i, Options{}, build{style: style, sources: fused(sources)})
			if err := e.conforms(); err != nil {
				t.Errorf("%s, as on a %s: %v", i.ID(), style, err)
			}
		}
		e := openTest(t, i, Options{}, build{style: "gpu", sources: fused(mutate(t, "residual.cl",
			"fma(KEPT(terms, r, exponential(s - m)), inverse, nothing)",
			"KEPT(terms, r, exponential(s - m)) * inverse"))})
		if err := engine.SelfTest(e.Engine); i.PlatformName == pocl && err == nil {
			t.Errorf("%s: a plain product was not fused: the test shows nothing", i.ID())
		}
	})
}

// TestUsable: memory that a device has for itself is not used up.
func TestUsable(t *testing.T) {
	for _, c := range []struct {
		i           Info
		limit, want int64
	}{
		{Info{Memory: 80 << 30}, 0, 75 << 30},
		{Info{Memory: 80 << 30}, 90 << 30, 75 << 30},
		{Info{Memory: 80 << 30}, 1 << 30, 1 << 30},
		{Info{Memory: 80 << 30, SharesMemory: true}, 0, 80 << 30},
	} {
		if got := c.i.usable(c.limit); got != c.want {
			t.Errorf("%d bytes, shared %v, limit %d: got %d, want %d", c.i.Memory, c.i.SharesMemory, c.limit,
				got, c.want)
		}
	}
}

func isEvaluation(c enginetest.Case) bool { return strings.HasPrefix(c.Name, "evaluate: ") }

// inLittleMemory has cases in which a block of weighted sums, the weights or class sums are larger
// than 76000 bytes want that the engine says so.
func inLittleMemory(cases []enginetest.Case) []enginetest.Case {
	cases = slices.Clone(cases)
	for k, c := range cases {
		if strings.HasPrefix(c.Name, "evaluate: all sizes odd, two chunks") ||
			c.Name == "evaluate: nearly empty (n=300 d=1090 Q=2)" || c.Name == "self-test" ||
			largeSums(c.Name) {
			cases[k].Check = func(e *engine.Engine) error {
				if err := c.Check(e); !errors.Is(err, engine.ErrMemory) {
					return fmt.Errorf("found %v, want %v", err, engine.ErrMemory)
				}
				return nil
			}
		}
	}
	return cases
}

// largeSums reports whether the class sums of a case exceed one allocation.
func largeSums(name string) bool {
	_, sizes, _ := strings.Cut(name, "(")
	var n, d, q int
	fmt.Sscanf(sizes, "n=%d d=%d Q=%d", &n, &d, &q)
	return 8*q*q*d > 76000 && !strings.HasPrefix(name, "evaluate: ")
}

// answers is an engine's output for a data set.
type answers struct {
	Scores, Norms, Vectors []float32
	Counts                 [2]engine.Assignment
}

// askProbe takes a data set through two assignments.
func ask(t *testing.T, e *engine.Engine, x dataset.Examples, y []int32, q int,
	judge func(*engine.Cells)) (a answers) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	r, err := e.LoadCells(x, y, q, numerics.FixedPoint{})
	if err != nil {
		t.Fatal(err)
	}
	judge(r)
	w, inv, all := engine.NewWeights(q, x.D), make([]float32, q*q), make([]int, q)
	for k := range inv {
		inv[k] = float32(rng.NormFloat64())
	}
	a.Scores, a.Norms, a.Vectors = make([]float32, x.N*q), make([]float32, q*q), make([]float32, 2*x.D)
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for c := range all {
		all[c] = c
	}
	// All examples move, then a few, then about all.
	for step, change := range []float64{1, 0.01, 1} {
		for j := range w.W {
			w.W[j] += float32(change * rng.NormFloat64())
		}
		check(r.Rescore(w, all))
		if a.Counts[min(step, 1)], err = r.Assign(0.25); err != nil {
			t.Fatal(err)
		}
	}
	check(r.Scores(a.Scores, 0, x.N))
	check(r.Norms(a.Norms, inv))
	check(r.UpdateVectors(a.Vectors, []engine.Pair{{P: 0, Q: 1}, {P: 1, Q: 2}}, inv))
	check(r.Close())
	return a
}

// TestMoreThanFits compares with cpuref on examples larger than one buffer of the device, and three
// times larger than its memory limit.
func TestMoreThanFits(t *testing.T) {
	const d, q = 250, 3
	rng := rand.New(rand.NewPCG(3, 4))
	draw := func(n int) (dataset.Examples, []int32) {
		x := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
		for j := range x.X {
			if rng.IntN(3) == 0 {
				x.X[j] = float32(int32(rng.Uint32())>>8) * 0x1p-23
			}
		}
		y := make([]int32, n)
		for j := range y {
			y[j] = int32(rng.IntN(q))
		}
		return x, y
	}
	eachDevice(t, func(i Info) {
		limit := min(i.MaxAlloc, 32<<20)
		if i.MaxAlloc <= 256<<20 {
			limit = i.MaxAlloc // POCL_MEMORY_LIMIT=1: the real limit
		}
		x, y := draw(int(limit/(4*d)) * 5 / 4)
		few, fewY := draw(30000) // 30 MB dense, 20 MB sparse
		for _, c := range []struct {
			name   string
			x      dataset.Examples
			y      []int32
			o      Options
			b      build
			aside  string // which tiles stay in host memory
			places int    // tiles at least
		}{
			{"one allocation", x, y, Options{MaxAlloc: limit}, build{}, "none", 2},
			{"memory", few, fewY, Options{MemoryLimit: 10 << 20}, build{}, "some", 4},
			{"sparse memory", few.Compressed(), fewY, Options{MemoryLimit: 8 << 20}, build{}, "some", 4},
		} {
			c.b.guard = noGuard
			want := ask(t, cpuref.New(), c.x, c.y, q, func(*engine.Cells) {})
			e := openTest(t, i, c.o, c.b)
			got := ask(t, e.Engine, c.x, c.y, q, func(*engine.Cells) {
				tiles, aside := e.last.tiles, 0
				for _, tile := range tiles {
					if tile.dense.host != nil || tile.sparse != nil && tile.sparse.values.host != nil {
						aside++
					}
				}
				where := "some"
				switch aside {
				case 0:
					where = "none"
				case len(tiles):
					where = "all"
				}
				if len(tiles) < c.places || where != c.aside {
					t.Errorf("%s, %s: %d of %d tiles are in host memory", i.ID(), c.name, aside, len(tiles))
				}
			})
			if !reflect.DeepEqual(want, got) {
				t.Errorf("%s, %s: the answers differ from cpuref's", i.ID(), c.name)
			}
		}
	})
}

// TestTiny is the part of the suite that an interpreter of kernels, a thousand
// times slower than a device, gets through: `make oclgrind` runs it to look for
// races, accesses out of bounds and reads of uninitialised memory. No guards
// here: a kernel that reads a guard must show as an uninitialised read. And no
// streaming, whose kernels are the same: oclgrind bears one thread only.
func TestTiny(t *testing.T) {
	runtime.LockOSThread() // oclgrind keeps its state by thread
	defer runtime.UnlockOSThread()
	eachDevice(t, func(i Info) {
		for _, b := range []build{{style: "gpu", group: 16}, {style: "cpu"}} {
			b.guard = noGuard
			engines, interpreter := map[int64]*tested{}, i.PlatformName == "Oclgrind"
			for _, c := range enginetest.TinyCases() {
				o := Options{MaxAlloc: 18700}
				if strings.HasPrefix(c.Name, "project") { // a chunk of a panel alone takes 65536
					o.MaxAlloc = 70000
				}
				e := engines[o.MaxAlloc]
				// to which a buffer in the place of a smaller one is half uninitialised
				if e == nil || interpreter {
					e = openTest(t, i, o, b)
					engines[o.MaxAlloc] = e
				}
				err := c.Check(e.Engine)
				if interpreter {
					err = errors.Join(err, e.Close())
				}
				if err != nil {
					t.Errorf("%s, as on a %s: %s: %v", i.ID(), b.style, c.Name, err)
				}
			}
		}
	})
}
