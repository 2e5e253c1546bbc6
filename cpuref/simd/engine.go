package simd

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/sketch"
)

// New returns the engine at the fastest level there is. It never fails and holds
// no resource.
func New() engine.Engine { return fastest(sketch.WhenTheyPay) }

// NewUnbounded is New without the bounds that spare scoring examples whose region
// cannot have changed (package internal/sketch). The results are the same.
func NewUnbounded() engine.Engine { return fastest(sketch.Never) }

func fastest(bounds sketch.When) engine.Engine {
	all := available()
	return &processor{k: all[len(all)-1], bounds: bounds}
}

type processor struct {
	k      *kernels
	bounds sketch.When

	exampleBytes, rescored atomic.Int64 // of engine.Work
}

func (e *processor) Device() engine.Device {
	name := fmt.Sprintf("Go on %s/%s", runtime.GOOS, runtime.GOARCH)
	if e.k.level != portable.level {
		name += ", " + e.k.level
	}
	return engine.Device{Kind: "cpu", ID: "cpu", Conforming: true, Name: name}
}

func (*processor) Close() error { return nil }

// Work implements engine.Counting.
func (e *processor) Work() engine.Work {
	return engine.Work{ExampleBytes: e.exampleBytes.Load(), Rescored: e.rescored.Load()}
}

// Plan: everything is in the memory of the process; the examples stay the caller's.
func (*processor) Plan(x dataset.Examples, y []int32, classes int) (engine.Plan, error) {
	if _, err := engine.CheckLoad(x, y, classes); err != nil {
		return engine.Plan{}, err
	}
	n, q := int64(blocksOf(x.N)*lanes), int64(classes)
	p := engine.Plan{Tiles: 1, InPlace: true, Examples: 4 * int64(len(x.X)+2*len(x.Values)+2*len(x.Starts)), Scores: 4 * n * q}
	if y != nil {
		p.ClassSums = 8 * q * q * int64(x.D)
		p.Scratch = 8*n + 2*int64(blocksOf(x.N)) + 20*q*q
	}
	return p, nil
}

func (e *processor) Load(x dataset.Examples, y []int32, classes int) (engine.Resident, error) {
	maxAbs, err := engine.CheckLoad(x, y, classes)
	if err != nil {
		return nil, err
	}
	blocks := blocksOf(x.N)
	r := &resident{
		e: e, k: e.k, x: x, y: y, q: classes, blocks: blocks,
		fixed:  numerics.NewFixedPoint(maxAbs, x.N),
		scores: make([]float32, blocks*lanes*classes),
	}
	if !x.Sparse() {
		r.dense = newDense(x)
	}
	if y != nil {
		r.bounds = sketch.NewBounds(e.bounds, x, classes)
		r.cells = newCells(blocks, x.D, classes)
	}
	return r, nil
}

// blocksOf returns the number of blocks of n examples.
func blocksOf(n int) int { return (n + lanes - 1) / lanes }

// resident holds the caller's examples and what is derived from them.
type resident struct {
	e      *processor
	k      *kernels
	x      dataset.Examples
	y      []int32
	q      int
	blocks int
	fixed  numerics.FixedPoint
	dense  dense
	scores []float32 // the score of example i for class c is scores[(i/16·Q + c)·16 + i%16]

	bounds   *sketch.Bounds // nil if there will be none
	sketches *sketches      // nil as long as all scores are exact

	cells   *cells      // nil without labels
	passes  []pass      // of the last Rescore; kept for their memory
	rows    [][]float32 // weights of a pass
	workers []*worker   // of run
	places  []int32     // of Predict, for some blocks
	changed []uint16
	closed  bool
}

func (r *resident) Shape() (n, d, q int)            { return r.x.N, r.x.D, r.q }
func (r *resident) FixedPoint() numerics.FixedPoint { return r.fixed }

func (r *resident) Close() error {
	*r = resident{closed: true}
	return nil
}

func (r *resident) check(op string) error {
	if r.closed {
		return fmt.Errorf("%s: %w", op, engine.ErrClosed)
	}
	return nil
}

// checkSums judges a use of the cells and class sums.
func (r *resident) checkSums(op string) error {
	if err := r.check(op); err != nil {
		return err
	}
	if r.cells == nil {
		return fmt.Errorf("%s: %w", op, engine.ErrNoLabels)
	}
	return nil
}
