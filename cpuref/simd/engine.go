// Package simd is the engine for processors: the bits of cpuref, computed with
// AVX-512, with AVX2 and FMA or with NEON where the processor has them, else by plain Go
// loops. It needs neither OpenCL nor cgo. The tag purego leaves the assembly out.
//
// Where a result depends on the order of its operations (clauses 1, 4 and 6 of
// the numerics contract), each vector lane owns one result and goes through
// its operations in the order that the contract fixes: lanes are examples in
// predictions, residuals and scores, classes in norms and where scores are of more
// than ten classes, and in weighted sums columns or, of sparse examples, rows of
// coefficients. Dense examples are used where they are.
//
// The assembly is generated from internal/gen, a module of its own.
package simd

import (
	"fmt"
	"runtime"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// New returns an engine with the widest instructions of this processor.
func New() *engine.Engine { return engine.New(NewDriver()) }

// NewDriver returns a driver with the widest instructions of this processor.
func NewDriver() engine.Driver {
	all := available()
	return &processor{k: all[len(all)-1]}
}

// processor is the driver.
type processor struct{ k *kernels }

func (*processor) Serial() bool { return false }
func (*processor) Close() error { return nil }

func (e *processor) Device() engine.Device {
	name := fmt.Sprintf("Go on %s/%s", runtime.GOOS, runtime.GOARCH)
	if e.k.level != portable.level {
		name += ", " + e.k.level
	}
	return engine.Device{Kind: "cpu", ID: "cpu", Name: name}
}

// checkMemory: everything is in the memory of the process; the examples stay the caller's.
func (e *processor) checkMemory(x dataset.Examples, t engine.Task) error {
	n, q := int64(blocksOf(x.N)*lanes), int64(t.Classes)
	scratch := 4 * n * q // scores
	switch t.Use {
	case engine.UseCells:
		scratch += 8*n + 2*int64(blocksOf(x.N)) + 20*q*q
	case engine.UseEvaluator:
		scratch = memory.Sum(scratch, e.evaluatorScratch(x, t.Classes))
	}
	return engine.CheckMemory(x, t, scratch)
}

func (e *processor) Load(x dataset.Examples, t engine.Task) (engine.Loaded, error) {
	if err := e.checkMemory(x, t); err != nil {
		return nil, err
	}
	blocks := blocksOf(x.N)
	r := &resident{k: e.k, x: x, q: t.Classes, blocks: blocks,
		scores: make([]float32, blocks*lanes*t.Classes),
		y:      t.Labels, fixed: t.Format}
	if !x.Sparse() {
		r.dense = newDense(x)
	}
	switch t.Use {
	case engine.UseCells:
		r.cells = newCells(r.blocks, x.D, t.Classes)
		return labelled{r}, nil
	case engine.UseEvaluator:
		return newEvaluator(r), nil
	}
	return r, nil
}

// blocksOf returns the number of blocks of n examples.
func blocksOf(n int) int { return panels(n, lanes) }

// labelled is a resident with cells, which alone has the methods for them.
type labelled struct{ *resident }

// resident holds the caller's examples and what is derived from them.
type resident struct {
	k      *kernels
	x      dataset.Examples
	q      int
	blocks int
	dense  dense
	scores []float32 // the score of example i for class c is scores[(i/16·Q + c)·16 + i%16]

	y       []int32 // nil without labels, as are cells
	fixed   numerics.FixedPoint
	cells   *cells
	passes  []pass         // of the last Rescore; kept for their memory
	weights engine.Weights // under way
	rows    [][]float32    // of them, of a pass
	workers []*worker      // of run
	places  []int32        // of Predict, for some blocks
	changed []uint16
}

func (r *resident) Close() error { return nil }

// littleWork is the work, in units of about a sixteenth of a nanosecond, for
// which it does not pay to wake another processor.
const littleWork = 1 << 20

// worker is what no other task uses while one does.
type worker struct {
	floats []float32 // scratch values
	share  share
}

// run does all tasks, on all processors if they are enough work. A little work runs in the caller,
// without a goroutine or an allocation. Each task is given a worker with scratch values.
func (r *resident) run(do func(r *resident, task int, own *worker), tasks, work, scratch int) {
	workers := 1
	if work >= littleWork {
		workers = parallel.Workers(tasks, 1)
	}
	for len(r.workers) < workers {
		r.workers = append(r.workers, &worker{})
	}
	for _, w := range r.workers[:workers] {
		w.floats = resize(w.floats, scratch)
	}
	if workers == 1 {
		for t := range tasks {
			do(r, t, r.workers[0])
		}
		return
	}
	parallel.Share(workers, tasks, func(worker, task int) { do(r, task, r.workers[worker]) })
}

//go:generate go run -C internal/gen . -neon ../../neon_arm64.s -out ../../kernels_amd64.s -stubs ../../kernels_amd64.go -pkg simd
