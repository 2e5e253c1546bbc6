package kernelpca

import (
	"context"
	"runtime/debug"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// fitLandmarks takes principal components of the Nyström features F = K_nm·L⁻ᵀ, K_mm = LLᵀ.
func (b *Basis) fitLandmarks(ctx context.Context, e engine.Engine, x dataset.Examples, o Options) error {
	which, err := b.choose(ctx, e, x, o)
	if err != nil {
		return err
	}
	b.Rows, b.Landmarks = which, x.Pick(which)
	factor, err := b.factor(ctx, e, o.Tolerance)
	if err != nil {
		return err
	}
	m := len(b.Rows)
	f, mean, err := b.features(ctx, e, x, factor)
	if err != nil {
		return err
	}
	squares, all := 0.0, 0.0
	for i := range x.N {
		squares += selfValue(b.Function, x, i)
	}
	for _, c := range centreRows(f) {
		all += float64(c * c)
	}
	b.Variance = squares - float64(x.N)*all
	if err := b.checkVariance(squares); err != nil {
		return err
	}
	gram := make([]float32, m*m)
	if err := project(ctx, e, gram, f, engine.Projection{Function: linear, Landmarks: f}); err != nil {
		return err
	}
	f.X = nil
	var found eigenpairs
	if m <= denseSize {
		found, err = b.dense(gram, m, nil, o)
	} else {
		r, failed := e.Load(dataset.Examples{N: m, D: m, X: gram}, blockSize)
		if failed != nil {
			return failed
		}
		defer r.Close()
		found, err = b.leading(ctx, e, matrix{n: m, multiply: func(dst []float32, v engine.Weights) error {
			return scores(dst, r, v)
		}}, o)
	}
	if err != nil {
		return err
	}
	axes, err := factor.axes(ctx, found)
	if err != nil {
		return err
	}
	b.setAxes(axes, found.values, mean)
	return nil
}

// features returns F transposed, m × n, and the mean of each column of K_nm: panel by
// panel F_J = (K_J - Σ_I F_I·L_JIᵀ)·L_JJ⁻ᵀ, products on the engine.
func (b *Basis) features(
	ctx context.Context, e engine.Engine, x dataset.Examples, l lower,
) (dataset.Examples, []float64, error) {
	var mean []float64
	var panels [][]float32
	product, rest := make([]float32, x.N*min(panelSize, l.m)), make([]float64, x.N*min(panelSize, l.m))
	// multiply writes a·cᵀ to product; c is the p × q part of l at (i, j), or of its inverse.
	multiply := func(a []float32, c blas64.General) error {
		w := dataset.Examples{N: c.Rows, D: c.Cols, X: make([]float32, 0, c.Rows*c.Cols)}
		for r := range c.Rows {
			for _, v := range c.Data[r*c.Stride : r*c.Stride+c.Cols] {
				w.X = append(w.X, float32(v))
			}
		}
		return project(ctx, e, product[:x.N*w.N], dataset.Examples{N: x.N, D: w.D, X: a},
			engine.Projection{Function: linear, Landmarks: w})
	}
	ctx, task := progress.Begin(ctx, progress.Work{Name: "features", Unit: "landmark", Total: int64(l.m)})
	defer task.End()
	for at := 0; at < l.m; at += panelSize {
		task.Reach(int64(at))
		p := l.panelOf(at)
		which := make([]int, p)
		for k := range which {
			which[k] = at + k
		}
		panel := make([]float32, x.N*p)
		if err := project(ctx, e, panel, x, engine.Projection{Function: b.Function,
			Landmarks: b.Landmarks.Pick(which)}); err != nil {
			return dataset.Examples{}, nil, err
		}
		mean = append(mean, means(panel, p)...)
		for i, v := range panel {
			rest[i] = float64(v)
		}
		for k, before := range panels {
			if err := multiply(before, l.general(at, k*panelSize, p, panelSize)); err != nil {
				return dataset.Examples{}, nil, err
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
			return dataset.Examples{}, nil, err
		}
		copy(panel, product[:len(panel)])
		panels = append(panels, panel)
	}
	product, rest = nil, nil
	return transposed(panels, l.m, x.N), mean, nil
}

// transposed returns an m × n matrix whose rows are the columns of panels, each of n rows, and empties panels.
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
		if panels[k] = nil; 4*m*n >= muchMemory {
			debug.FreeOSMemory() // else both would be there at once
		}
	}
	return f
}

// muchMemory is how many bytes are worth the time that the collector takes to give them back.
const muchMemory = 64 << 20

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
