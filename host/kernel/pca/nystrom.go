package pca

import (
	"context"
	"math"
	"runtime/debug"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// fitLandmarks takes principal components of the Nyström features F = K_nm·L⁻ᵀ, K_mm = LLᵀ.
func (b *Basis) fitLandmarks(ctx context.Context, e *engine.Engine, x dataset.Examples,
	o Options) error {
	b.Rows = o.Rows
	if b.Rows == nil {
		b.Rows = uniform(x.N, o.Landmarks, newRand(o.Seed))
	}
	b.Landmarks = x.Pick(b.Rows)
	factor, err := b.factor(ctx, e, tolerance)
	if err != nil {
		return err
	}
	if o.Coordinates {
		return b.setCoordinates(ctx, x, factor)
	}
	gram, mean, err := b.gram(ctx, e, x, factor)
	if err != nil {
		return err
	}
	found, err := b.leading(gram, len(b.Rows), o)
	if err != nil {
		return err
	}
	vectors := lists.As[float64](found.vectors)
	axes, err := factor.axes(ctx, len(found.values), vectors, false)
	if err != nil {
		return err
	}
	b.setAxes(axes, found.values, mean)
	return nil
}

// setCoordinates makes the rows of L⁻¹ the axes.
func (b *Basis) setCoordinates(ctx context.Context, x dataset.Examples, l lower) error {
	b.Variance = lists.Sum(parallel.BlockSums(x.N, 1024, func(from, to int) (sum float64) {
		for i := from; i < to; i++ {
			sum += engine.SelfValue(b.Function, x, i)
		}
		return sum
	}))
	if math.IsNaN(b.Variance) || math.IsInf(b.Variance, 0) {
		return errOverflow
	}
	axes, err := l.axes(ctx, l.m, identity(l.m), true)
	b.Axes = engine.Weights{Q: l.m, D: l.m, W: axes}
	b.Offset = make([]float32, l.m)
	return err
}

// explain sets the share that coordinates z of all examples have of their squared lengths.
func (b *Basis) explain(z dataset.Examples) {
	explained := lists.Sum(parallel.BlockSums(z.N, 1024, func(from, to int) (sum float64) {
		for i := from; i < to; i++ {
			for _, v := range z.Row(i) {
				sum += float64(v) * float64(v) // exact
			}
		}
		return sum
	}))
	b.Explained = explained / b.Variance
}

// gram returns the inner products of the m features, centred, over all examples, m × m, and the
// mean of each column of K_nm. It sets Variance.
func (b *Basis) gram(ctx context.Context, e *engine.Engine, x dataset.Examples, l lower) ([]float32,
	[]float64, error) {
	panels, sums, err := b.features(ctx, e, x, l)
	if err != nil {
		return nil, nil, err
	}
	mean := meansOfParts(sums, l.m, x.N)
	squares := lists.Sum(engine.SquaredLengths(b.Function, x))
	gram := make([]float32, l.m*l.m)
	f, centres := transposed(panels, l.m, x.N), 0.0
	for _, c := range centreRows(f) {
		centres += float64(c * c)
	}
	b.Variance = squares - float64(x.N)*centres
	if err := b.checkVariance(squares); err != nil {
		return nil, nil, err
	}
	err = e.ProjectBlocks(ctx, gram, f, engine.Projection{Function: linear, Landmarks: f})
	free(2 * 4 * l.m * x.N) // the features, and what the engine made of them
	return gram, mean, err
}

// features returns F in panels of columns, of some examples, and sums of columns of K_nm over
// parts of these, a row of m for each part: panel by panel F_J = (K_J - Σ_I F_I·L_JIᵀ)·L_JJ⁻ᵀ,
// products on the engine.
func (b *Basis) features(ctx context.Context, e *engine.Engine, x dataset.Examples, l lower,
) (panels [][]float32, sums [][]float64, err error) {
	if x.N == 0 {
		return nil, nil, nil
	}
	sums = make([][]float64, countParts(x.N))
	product, rest := make([]float32, x.N*min(panelSize, l.m)), make([]float64, x.N*min(panelSize, l.m))
	// multiply writes a·cᵀ to product; c is the p × q part of l at (i, j), or of its inverse.
	multiply := func(a []float32, c blas64.General) error {
		w := dataset.Examples{N: c.Rows, D: c.Cols, X: make([]float32, 0, c.Rows*c.Cols)}
		for r := range c.Rows {
			for _, v := range c.Data[r*c.Stride : r*c.Stride+c.Cols] {
				w.X = append(w.X, float32(v))
			}
		}
		return e.ProjectBlocks(ctx, product[:x.N*w.N], dataset.Examples{N: x.N, D: w.D, X: a},
			engine.Projection{Function: linear, Landmarks: w})
	}
	ctx, task := progress.Begin(ctx, progress.Work{Name: "features", Unit: "landmark",
		Total: int64(l.m)})
	defer task.End()
	for at := 0; at < l.m; at += panelSize {
		task.Reach(int64(at))
		p := l.panelOf(at)
		panel := make([]float32, x.N*p)
		if err := e.ProjectBlocks(ctx, panel, x, engine.Projection{Function: b.Function,
			Landmarks: b.Landmarks.Part(at, at+p)}); err != nil {
			return nil, nil, err
		}
		for k, s := range partSums(panel, p) {
			sums[k] = append(sums[k], s...)
		}
		for i, v := range panel {
			rest[i] = float64(v)
		}
		for k, before := range panels {
			if err := multiply(before, l.general(at, k*panelSize, p, panelSize)); err != nil {
				return nil, nil, err
			}
			parts(x.N, func(_, from, to int) {
				for i := from * p; i < to*p; i++ {
					rest[i] -= float64(product[i])
				}
			})
		}
		for i, v := range rest[:len(panel)] {
			panel[i] = float32(v)
		}
		if err := multiply(panel, l.inverse(at, p)); err != nil {
			return nil, nil, err
		}
		copy(panel, product[:len(panel)])
		panels = append(panels, panel)
	}
	return panels, sums, nil
}

// transposed returns an m × n matrix whose rows are the columns of panels, each of n rows, and
// empties panels.
func transposed(panels [][]float32, m, n int) dataset.Examples {
	f := dataset.Examples{N: m, D: n, X: make([]float32, m*n)}
	for k, panel := range panels {
		p := len(panel) / n
		parallel.Tasks(p, func(j int) {
			row := f.Row(k*panelSize + j)
			for i := range row {
				row[i] = panel[i*p+j]
			}
		})
		panels[k] = nil
		free(4 * m * n) // else both would be there at once
	}
	return f
}

// free gives back memory that nobody uses any more if bytes are worth the time: the collector
// waits until as much again has been taken.
func free(bytes int) {
	const much = 64 << 20
	if bytes >= much {
		debug.FreeOSMemory()
	}
}

// centreRows subtracts from each row of f its mean, and returns the means.
func centreRows(f dataset.Examples) []float64 {
	mean := make([]float64, f.N)
	parallel.Tasks(f.N, func(i int) {
		row, sum := f.Row(i), 0.0
		for _, v := range row {
			sum += float64(v)
		}
		mean[i] = sum / float64(f.D)
		for j, v := range row {
			row[j] = float32(float64(v) - mean[i])
		}
	})
	return mean
}
