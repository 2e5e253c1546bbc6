package pca

import (
	"context"
	"math"
	"runtime/debug"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/featurespace"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// fitLandmarks takes principal components of the Nyström features F = K_nm·L⁻ᵀ, K_mm = LLᵀ.
func (b *Basis) fitLandmarks(ctx context.Context, e engine.Engine, x dataset.Stored,
	o Options) error {
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
	if o.Coordinates {
		return b.setCoordinates(ctx, x, factor)
	}
	gram, mean, err := b.gram(ctx, e, x, factor)
	if err != nil {
		return err
	}
	var found eigenpairs
	if m <= denseSize {
		found, err = b.dense(gram, m, nil, o)
	} else {
		r, failed := e.Load(dataset.Examples{N: m, D: m, X: gram}, blockSize)
		if failed != nil {
			return failed
		}
		defer r.Close()
		found, err = b.leading(ctx, e, matrix{n: m, multiply: func(dst []float32,
			v engine.Weights) error {
			return scores(dst, r, v)
		}}, o)
	}
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
func (b *Basis) setCoordinates(ctx context.Context, x dataset.Stored, l lower) error {
	b.Variance = lists.Sum(x.RowSums(1024, func(from, to int) (sum float64) {
		for i := from; i < to; i++ {
			sum += featurespace.SelfValue(b.Function, x.Examples, i)
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
func (b *Basis) explain(z dataset.Stored) {
	explained := lists.Sum(z.RowSums(1024, func(from, to int) (sum float64) {
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
func (b *Basis) gram(ctx context.Context, e engine.Engine, x dataset.Stored, l lower) ([]float32,
	[]float64, error) {
	own, some := engine.Own(e, x)
	panels, sums, err := b.features(ctx, own, some, l)
	if err := x.Agree(err); err != nil {
		return nil, nil, err
	}
	mean, err := meansOfParts(x.At, sums, l.m, x.N)
	if err != nil {
		return nil, nil, err
	}
	squares, all := []float64{0}, 0.0
	lengths := featurespace.SquaredLengths(b.Function, some)
	err = store.InOrder(x.At, squares, 1, func(sum []float64, _, _ int) error {
		for _, v := range lengths {
			sum[0] += v
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	gram := make([]float32, l.m*l.m)
	vary := func(means []float64) error {
		for _, c := range means {
			all += float64(c * c)
		}
		b.Variance = squares[0] - float64(x.N)*all
		return b.checkVariance(squares[0])
	}
	if x.Shared() {
		f := newSlabs(panels, l.m, some.N)
		means, err := f.centre(x)
		if err == nil {
			err = vary(means)
		}
		if err == nil {
			err = f.gram(ctx, own, x, gram)
		}
		free(4 * l.m * some.N)
		return gram, mean, err
	}
	f := transposed(panels, l.m, x.N)
	if err := vary(centreRows(f)); err != nil {
		return nil, nil, err
	}
	err = project(ctx, e, gram, f, engine.Projection{Function: linear, Landmarks: f})
	free(2 * 4 * l.m * x.N) // the features, and what the engine made of them
	return gram, mean, err
}

// features returns F in panels of columns, of some examples, and sums of columns of K_nm over
// parts of these, a row of m for each part: panel by panel F_J = (K_J - Σ_I F_I·L_JIᵀ)·L_JJ⁻ᵀ,
// products on the engine.
func (b *Basis) features(ctx context.Context, e engine.Engine, x dataset.Examples, l lower,
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
		return project(ctx, e, product[:x.N*w.N], dataset.Examples{N: x.N, D: w.D, X: a},
			engine.Projection{Function: linear, Landmarks: w})
	}
	ctx, task := progress.Begin(ctx, progress.Work{Name: "features", Unit: "landmark",
		Total: int64(l.m)})
	defer task.End()
	for at := 0; at < l.m; at += panelSize {
		task.Reach(int64(at))
		p := l.panelOf(at)
		panel := make([]float32, x.N*p)
		if err := project(ctx, e, panel, x, engine.Projection{Function: b.Function,
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

// slabs are the m features of the examples of a rank, cut at chunks of clause 1, each slab m × its
// examples. Inner products over all examples are sums of those of slabs, in the order of the
// examples.
type slabs struct {
	m  int
	of []dataset.Examples
}

// newSlabs cuts panels of columns, of n rows each, and empties them.
func newSlabs(panels [][]float32, m, n int) *slabs {
	f := &slabs{m: m, of: make([]dataset.Examples, (n+numerics.Chunk-1)/numerics.Chunk)}
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

// centre is centreRows for examples x that ranks share; it takes all ranks.
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
