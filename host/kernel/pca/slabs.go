package pca

import (
	"context"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// slabs are the m features of the examples of a rank, cut at chunks of clause 1, each slab m × its
// examples. Inner products over all examples are sums of those of slabs, in the order of the
// examples.
type slabs struct {
	m, n int
	of   []dataset.Examples
}

// newSlabs cuts panels of columns, of n rows each, and empties them.
func newSlabs(panels [][]float32, m, n int) *slabs {
	f := &slabs{m: m, n: n, of: make([]dataset.Examples, (n+numerics.Chunk-1)/numerics.Chunk)}
	for c := range f.of {
		width := min(numerics.Chunk, n-c*numerics.Chunk)
		f.of[c] = dataset.Examples{N: m, D: width, X: make([]float32, m*width)}
	}
	for k, panel := range panels {
		p := len(panel) / n
		parallel.Tasks(len(f.of), func(c int) {
			for j := range p {
				row := f.of[c].Row(k*panelSize + j)
				for i := range row {
					row[i] = panel[(c*numerics.Chunk+i)*p+j]
				}
			}
		})
		panels[k] = nil
		free(4 * m * n) // else both would be there at once
	}
	return f
}

// centre is centreRows for examples x that ranks share, all of which it takes.
func (f *slabs) centre(x dataset.Stored) ([]float64, error) {
	mean := make([]float64, f.m)
	err := store.InOrder(x.At, mean, 1, func(sums []float64, from, to int) error {
		parallel.Tasks(to-from, func(j int) {
			for _, slab := range f.of {
				for _, v := range slab.Row(from + j) {
					sums[j] += float64(v)
				}
			}
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	for j := range mean {
		mean[j] /= float64(x.N)
	}
	parallel.Tasks(len(f.of), func(c int) {
		for j, m := range mean {
			row := f.of[c].Row(j)
			for i, v := range row {
				row[i] = float32(float64(v) - m)
			}
		}
	})
	return mean, nil
}

// gramRows is the least number of rows of the matrix that go from rank to rank together.
const gramRows = 16

// gram writes the inner products of the features over all examples x, which ranks share, to dst, m
// × m: the numbers of a projection with one axis for each, which are sums of chunks of 256
// examples by clause 1. Ranks, whose examples begin with a chunk, add theirs one after the other,
// in groups of rows; what is right of the diagonal is below it. It takes all ranks.
func (f *slabs) gram(ctx context.Context, e engine.Engine, x dataset.Stored, dst []float32) error {
	ctx, task := progress.Begin(ctx, progress.Work{Name: "inner products", Unit: "feature",
		Total: int64(f.m)})
	defer task.End()
	var ends []int // of the groups
	err := store.InOrder(x.At, dst, gramRows*f.m, func(sums []float32, from, to int) error {
		first, last := from/f.m, to/f.m
		ends = append(ends, last)
		product := make([]float32, last*(last-first))
		for _, slab := range f.of {
			if err := ctx.Err(); err != nil {
				return err
			}
			rows := slab.Part(first, last)
			if err := e.Project(product, slab.Part(0, last), engine.Projection{Function: linear,
				Landmarks: rows}); err != nil {
				return err
			}
			parallel.Ranges(len(product), 1<<14, func(from, to int) {
				for i, v := range product[from:to] {
					sums[from+i] += v
				}
			})
		}
		task.Reach(int64(last))
		return nil
	})
	if err != nil {
		return err
	}
	first, sums := 0, append([]float32(nil), dst...)
	for _, last := range ends { // a group is last × its rows, as the engine has it
		width := last - first
		for a := range last {
			for b := first; b < last; b++ {
				v := sums[first*f.m+a*width+b-first]
				dst[a*f.m+b], dst[b*f.m+a] = v, v
			}
		}
		first = last
	}
	return nil
}
