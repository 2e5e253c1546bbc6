// Package cpuref is the engine in plain Go whose loops define every result of
// the numerics contract. It runs on every machine, with or without OpenCL.
//
// It is written to be read beside the contract, clause by clause. Goroutines
// share out the examples, never the order of an addition that rounds. Package
// simd, below, gives the same bits much faster.
package cpuref

import (
	"fmt"
	"runtime"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/enginecheck"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// New returns the engine. It never fails.
func New() engine.Engine { return enginecheck.New(cpu{}, enginecheck.How{InMemory: true}) }

// cpu is the engine behind the checks.
type cpu struct{}

func (cpu) Device() engine.Device {
	return engine.Device{
		Kind: "cpu", ID: "cpu:plain", Conforming: true,
		Name: fmt.Sprintf("Go on %s/%s, plain loops", runtime.GOOS, runtime.GOARCH),
	}
}

func (cpu) Close() error { return nil }

// Plan: everything is in the memory of the process; the examples stay the caller's.
func (cpu) Plan(x dataset.Stored, t enginecheck.Task) (engine.Plan, error) {
	n, q := int64(x.N), int64(t.Classes)
	p := engine.Plan{Tiles: 1, InPlace: true,
		Examples: 4 * int64(len(x.X)+2*len(x.Values)+2*len(x.Starts)), Scores: 4 * n * q}
	switch t.Use {
	case enginecheck.Sorting:
		p.ClassSums = memory.Product(8, t.Classes, t.Classes, x.D)
		p.Scratch = 16*n + 16*q*q
	case enginecheck.Evaluating: // residuals and sums
		p.Scratch = memory.Sum(memory.Product(4, x.N, t.Classes), memory.Product(8, x.N),
			memory.Product(4, t.Classes, x.D))
	}
	return p, nil
}

func (cpu) Load(x dataset.Stored, t enginecheck.Task) (engine.Scorer, error) {
	n, q := x.N, t.Classes
	r := resident{x: x.Examples, q: q, scores: make([]float32, n*q)}
	switch t.Use {
	case enginecheck.Sorting:
		c := &cells{
			resident: r, y: t.Labels, fixed: t.Format,
			pred: make([]int32, n), region: make([]int32, n), next: make([]next, n),
			sums:    make([]int64, q*q*x.D),
			regions: make([]int64, q*q), predicted: make([]int64, q*q),
		}
		for i := range c.region {
			c.pred[i], c.region[i] = outside, outside
		}
		return c, nil
	case enginecheck.Evaluating:
		return &evaluator{
			resident: r, fixed: t.Format, residuals: make([]float32, n*q), losses: make([]int64, n),
		}, nil
	}
	return &r, nil
}

// outside marks an example that is in no region.
const outside = -1

// resident holds the caller's examples and their scores.
type resident struct {
	x      dataset.Examples
	q      int
	scores []float32 // n×Q, row i = example i
}

// cells is a resident with what is derived from labels.
type cells struct {
	resident
	y     []int32
	fixed numerics.FixedPoint

	pred      []int32 // prediction at the last assignment, or outside
	region    []int32 // region at the last assignment, or outside
	next      []next  // where Assign is about to put each example
	sums      []int64 // Γ, Q×Q×d: [(p·Q+k)·d + j]
	regions   []int64 // N, Q×Q
	predicted []int64 // N at α = 0, Q×Q
}

func (r *resident) Shape() (n, d, q int)         { return r.x.N, r.x.D, r.q }
func (r *cells) FixedPoint() numerics.FixedPoint { return r.fixed }

func (r *resident) Close() error { return nil }
