package pca

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// Fit finds the kernel principal components of prepared examples x. It neither keeps nor
// changes x. A cancelled ctx ends it between two blocks of work, with ctx's error. Errors
// before any work: ErrOptions, ErrMemory, ErrConstant; later those of the engine,
// engine.ErrValue for kernel values that overflow, and ErrConstant.
//
// Where ranks share x it takes all of them, on an engine of theirs. Each has kernel values and
// features of its own examples alone, if there are landmarks; without any it has all examples, as
// each of these is a landmark then.
func Fit(ctx context.Context, e engine.Engine, rows dataset.Rows, o Options) (*Basis, error) {
	x := rows.Stored()
	plan, err := NewPlan(x, o)
	if err == nil {
		err = o.check(x.N, x.D)
	}
	if err == nil {
		err = x.Check()
	}
	if err := x.Agree(err); err != nil {
		return nil, err
	}
	x, release, err := unitRows(x, o.Cosine)
	if err != nil {
		return nil, err
	}
	defer release()
	if equal, err := allEqual(x); equal || err != nil {
		return nil, cmp.Or(err, fmt.Errorf("%w: every one of the %d is as the first", ErrConstant, x.N))
	}
	ctx, task := progress.Begin(ctx, progress.Work{Name: "fitting the kernel"})
	defer task.End()
	b := &Basis{Cosine: o.Cosine, Tolerance: o.Tolerance}
	b.Function = o.Function
	if o.Landmarks == 0 {
		err = b.fitAll(ctx, e, x.Whole(), o, plan.Kept)
	} else {
		err = b.fitLandmarks(ctx, e, x, o)
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// fitAll makes every example a landmark.
func (b *Basis) fitAll(ctx context.Context, e engine.Engine, x dataset.Examples, o Options,
	keep bool) (err error) {
	b.Rows = make([]int, x.N)
	for i := range b.Rows {
		b.Rows[i] = i
	}
	b.Landmarks = x.Pick(b.Rows) // a copy: the basis outlives x
	kernel := engine.Projection{Function: o.Function, Landmarks: b.Landmarks}
	var values []float32
	var mean []float64
	a := matrix{n: x.N, centred: true}
	if keep {
		values = make([]float32, x.N*x.N)
		if err := project(ctx, e, values, x, kernel); err != nil {
			return err
		}
		mean = means(values, x.N)
	} else {
		ones := kernel
		ones.Axes = engine.NewWeights(1, x.N)
		for l := range ones.Axes.W {
			ones.Axes.W[l] = 1
		}
		sums := make([]float32, x.N)
		if err := project(ctx, e, sums, x, ones); err != nil {
			return err
		}
		for _, s := range sums {
			mean = append(mean, float64(s)/float64(x.N))
		}
		a.multiply = func(dst []float32, v engine.Weights) error {
			p := kernel
			p.Axes = v
			return project(ctx, e, dst, x, p)
		}
	}
	if err := b.setVariance(x, mean); err != nil {
		return err
	}
	var found eigenpairs
	if x.N <= denseSize {
		found, err = b.dense(values, x.N, mean, o)
	} else {
		if keep {
			r, err := e.Load(dataset.Examples{N: x.N, D: x.N, X: values}, blockSize)
			if err != nil {
				return err
			}
			defer r.Close()
			a.multiply = func(dst []float32, v engine.Weights) error { return scores(dst, r, v) }
		}
		found, err = b.leading(ctx, e, a, o)
	}
	if err != nil {
		return err
	}
	parallel.Tasks(len(found.values), func(t int) {
		row, sum := found.vectors[t*x.N:(t+1)*x.N], 0.0
		for _, v := range row {
			sum += float64(float64(v) * float64(v))
		}
		scale := 1 / math.Sqrt(float64(sum*found.values[t]))
		for l := range row {
			row[l] = float32(float64(row[l]) * scale)
		}
	})
	b.setAxes(found.vectors, found.values, mean)
	return nil
}

var errOverflow = fmt.Errorf("kernel PCA: %w: kernel values overflow float32; scale the examples, "+
	"or take a smaller gamma, coef0 or degree", engine.ErrValue)

// setVariance sets the variance in feature space from the mean of each column of the matrix
// of kernel values.
func (b *Basis) setVariance(x dataset.Examples, mean []float64) error {
	var squares, all float64
	for i, m := range mean {
		squares += selfValue(b.Function, x, i)
		all += m
	}
	b.Variance = squares - all
	return b.checkVariance(squares)
}

// checkVariance refuses a variance that is rounding, given the sum of squared lengths, or
// not finite.
func (b *Basis) checkVariance(squares float64) error {
	if math.IsNaN(b.Variance) || math.IsInf(b.Variance, 0) {
		return errOverflow
	}
	if !(b.Variance > 1e-6*math.Abs(squares)) {
		return fmt.Errorf("%w: variance %.3g, squared lengths %.3g in all; kernel function %s with "+
			"gamma %v tells none apart", ErrConstant, b.Variance, squares, b.Function.Kind, b.Function.Gamma)
	}
	return nil
}

// selfValue returns κ(x_i, x_i), with the bits that an engine gives it.
func selfValue(f kernel.Function, x dataset.Examples, i int) float64 {
	var dot float32
	if !x.Sparse() {
		dot = numerics.Dot(x.Row(i), x.Row(i))
	} else {
		var acc float32
		chunk := int32(0)
		columns, values := x.SparseRow(i)
		for k, v := range values {
			if c := columns[k] / numerics.Chunk; c != chunk {
				dot, acc, chunk = dot+acc, 0, c
			}
			acc = numerics.FMA(v, v, acc)
		}
		dot += acc
	}
	return float64(f.Value(dot, dot, dot))
}

// SquaredLengths returns κ(x,x) of each example, with the bits that an engine gives them. Where
// ranks share x it takes all of them.
func SquaredLengths(f kernel.Function, rows dataset.Rows) []float64 {
	x := rows.Stored()
	return x.RowSums(1, func(from, _ int) float64 { return selfValue(f, x.Examples, from) })
}

// allEqual says whether all examples have the values of the first.
func allEqual(x dataset.Stored) (bool, error) {
	first := x.Pick([]int{0})
	columns, values := first.Columns, first.Values
	from, to := x.Own()
	for i := from; i < to; i++ {
		if !x.Sparse() && !slices.Equal(x.Row(i), first.Row(0)) {
			return x.At.Shared().Everywhere(false)
		}
		if x.Sparse() {
			if c, v := x.SparseRow(i); !slices.Equal(c, columns) || !slices.Equal(v, values) {
				return x.At.Shared().Everywhere(false)
			}
		}
	}
	return x.At.Shared().Everywhere(true)
}
