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
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// New returns an engine.
func New() *engine.Engine { return engine.New(Driver{}) }

// Driver is the driver.
type Driver struct{}

func (Driver) Serial() bool { return false }

func (Driver) Device() engine.Device {
	return engine.Device{
		Kind: "cpu", ID: "cpu:plain",
		Name: fmt.Sprintf("Go on %s/%s, plain loops", runtime.GOOS, runtime.GOARCH),
	}
}

func (Driver) Close() error { return nil }

// checkMemory: everything is in the memory of the process; the examples stay the caller's.
func checkMemory(x dataset.Examples, t engine.Task) error {
	n, q := int64(x.N), int64(t.Classes)
	scratch := 4 * n * q // scores
	switch t.Use {
	case engine.UseCells:
		scratch += 16*n + 16*q*q
	case engine.UseEvaluator: // residuals and sums
		scratch = memory.Sum(scratch, memory.Product(4, x.N, t.Classes), memory.Product(8, x.N),
			memory.Product(4, t.Classes, x.D))
	}
	return engine.CheckMemory(x, t, scratch)
}

func (d Driver) Load(x dataset.Examples, t engine.Task) (engine.Loaded, error) {
	if err := checkMemory(x, t); err != nil {
		return nil, err
	}
	n, q := x.N, t.Classes
	r := resident{x: x, q: q, scores: make([]float32, n*q)}
	switch t.Use {
	case engine.UseCells:
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
	case engine.UseEvaluator:
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

// cells is a resident with data derived from labels.
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

func (r *resident) Close() error { return nil }

// UpdateVectors: clause 6.
func (r *cells) UpdateVectors(dst []float32, pairs []engine.Pair, inv []float32) error {
	for i, z := range pairs {
		r.updateVector(dst[i*r.x.D:(i+1)*r.x.D], z.P, z.Q, inv)
	}
	return nil
}

func (r *cells) updateVector(dst []float32, p, q int, inv []float32) {
	size := r.q * r.x.D
	engine.UpdateVector(dst, r.sums[p*size:(p+1)*size], inv[q*r.q:(q+1)*r.q], r.fixed)
}

// Norms: clause 6, every pair.
func (r *cells) Norms(dst, inv []float32) error {
	empty := make([]bool, r.q) // regions without an example, whose update vectors are zero
	for p := range empty {
		empty[p] = slices.Max(r.regions[p*r.q:(p+1)*r.q]) == 0
	}
	parallel.Ranges(r.q*r.q, 8, func(from, to int) {
		z := make([]float32, r.x.D)
		for pq := from; pq < to; pq++ {
			dst[pq] = 0
			if p := pq / r.q; !empty[p] {
				r.updateVector(z, p, pq%r.q, inv)
				dst[pq] = numerics.Dot(z, z)
			}
		}
	})
	return nil
}

// Project: clause 13.
func (Driver) Project(dst []float32, x dataset.Examples, p engine.Projection) error {
	d, m, axes, width := x.D, p.Landmarks.N, p.Axes, p.Width()
	if err := memory.Check(memory.Product(4, m, d), "a dense copy of the landmarks"); err != nil {
		return err
	}
	landmarks, yy := engine.NewWeights(m, d), make([]float32, m) // ⟨y,y⟩ of each landmark
	for l := range m {
		y := landmarks.Row(l)
		copy(y, p.Landmarks.DenseRow(make([]float32, d), l))
		yy[l] = numerics.Dot(y, y)
	}
	parallel.Ranges(x.N, 1, func(from, to int) {
		row, values := make([]float32, d), make([]float32, m)
		for i := from; i < to; i++ {
			row := x.DenseRow(row, i)
			xx := numerics.Dot(row, row)
			for l := range values {
				values[l] = p.Function.Value(dot(x, i, landmarks.Row(l)), xx, yy[l])
			}
			numbers := dst[i*width : (i+1)*width]
			if axes.Q == 0 {
				copy(numbers, values)
			}
			for k := range axes.Q {
				numbers[k] = numerics.Dot(values, axes.Row(k))
				if p.Offset != nil {
					numbers[k] += p.Offset[k]
				}
			}
		}
	})
	return nil
}
