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
)

// New returns the engine. It never fails and holds no resource.
func New() engine.Engine { return cpu{} }

type cpu struct{}

func (cpu) Device() engine.Device {
	return engine.Device{
		Kind: "cpu", ID: "cpu:plain", Conforming: true,
		Name: fmt.Sprintf("Go on %s/%s, plain loops", runtime.GOOS, runtime.GOARCH),
	}
}

func (cpu) Close() error { return nil }

// Plan: everything is in the memory of the process; the examples stay the caller's.
func (cpu) Plan(x dataset.Examples, y []int32, classes int) (engine.Plan, error) {
	if _, err := engine.CheckLoad(x, y, classes); err != nil {
		return engine.Plan{}, err
	}
	n, q := int64(x.N), int64(classes)
	p := engine.Plan{Tiles: 1, InPlace: true, Examples: 4 * int64(len(x.X)+2*len(x.Values)+2*len(x.Starts)), Scores: 4 * n * q}
	if y != nil {
		p.ClassSums = 8 * q * q * int64(x.D)
		p.Scratch = 16*n + 16*q*q
	}
	return p, nil
}

func (cpu) Load(x dataset.Examples, y []int32, classes int) (engine.Resident, error) {
	maxAbs, err := engine.CheckLoad(x, y, classes)
	if err != nil {
		return nil, err
	}
	r := &resident{
		x: x, y: y, q: classes,
		fixed:  numerics.NewFixedPoint(maxAbs, x.N),
		scores: make([]float32, x.N*classes),
	}
	if y != nil {
		r.pred = make([]int32, x.N)
		r.region = make([]int32, x.N)
		r.next = make([]next, x.N)
		for i := range r.region {
			r.pred[i], r.region[i] = outside, outside
		}
		r.sums = make([]int64, classes*classes*x.D)
		r.regions = make([]int64, classes*classes)
		r.predicted = make([]int64, classes*classes)
	}
	return r, nil
}

// outside marks an example that is in no region.
const outside = -1

// resident holds the caller's examples and what is derived from them.
type resident struct {
	x      dataset.Examples
	y      []int32
	q      int
	fixed  numerics.FixedPoint
	scores []float32 // n×Q, row i = example i

	pred      []int32 // prediction at the last assignment, or outside
	region    []int32 // region at the last assignment, or outside
	next      []next  // where Assign is about to put each example
	sums      []int64 // Γ, Q×Q×d: [(p·Q+k)·d + j]
	regions   []int64 // N, Q×Q
	predicted []int64 // N at α = 0, Q×Q
	closed    bool
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
