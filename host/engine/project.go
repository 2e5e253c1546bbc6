package engine

import (
	"context"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// projectRows is the number of examples projected between two checks of the context. The cost of a
// call for the landmarks and axes is negligible for so many.
const projectRows = 8192

// ProjectBlocks is Project, a block of examples at a time. A cancelled ctx ends it between two
// blocks, with ctx's error.
func (e *Engine) ProjectBlocks(ctx context.Context, dst []float32, x dataset.Examples,
	p Projection) error {
	if x.N <= projectRows || len(dst) != x.N*p.Width() {
		if err := ctx.Err(); err != nil {
			return err
		}
		return e.Project(dst, x, p)
	}
	_, task := progress.Begin(ctx, progress.Work{Name: "kernel values", Unit: "example",
		Total: int64(x.N)})
	defer task.End()
	for from := 0; from < x.N; from += projectRows {
		task.Reach(int64(from))
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(from+projectRows, x.N)
		if err := e.Project(dst[from*p.Width():to*p.Width()], x.Part(from, to), p); err != nil {
			return fmt.Errorf("of the examples from %d on: %w", from, err)
		}
	}
	return nil
}

// SelfValue returns κ(x_i, x_i), with the bits that an engine gives it.
func SelfValue(f kernel.Function, x dataset.Examples, i int) float64 {
	dot := numerics.SquaredNorm(x.Entries(i))
	return float64(f.Value(dot, dot, dot))
}

// SquaredLengths returns κ(x,x) of each example, with the bits that an engine gives it.
func SquaredLengths(f kernel.Function, x dataset.Examples) []float64 {
	return parallel.BlockSums(x.N, 1, func(from, _ int) float64 { return SelfValue(f, x, from) })
}
