package pca

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// Fit finds the kernel principal components of prepared examples x. It neither keeps nor changes x.
// A cancelled ctx ends it between two blocks of work, with ctx's error. Errors before any work:
// ErrOptions, ErrConstant; later: errors from the engine, engine.ErrValue for kernel values that
// overflow, and ErrConstant.
func Fit(ctx context.Context, e *engine.Engine, x dataset.Examples, o Options) (*Basis, error) {
	if err := errors.Join(o.check(x.N, x.D), x.Check()); err != nil {
		return nil, err
	}
	if allEqual(x) {
		return nil, fmt.Errorf("%w: every one of the %d is as the first", ErrConstant, x.N)
	}
	ctx, task := progress.Begin(ctx, progress.Work{Name: "fitting the kernel"})
	defer task.End()
	b := &Basis{Projection: engine.Projection{Function: o.Function}}
	if o.Landmarks == 0 {
		o.Landmarks = x.N
	}
	if err := b.fitLandmarks(ctx, e, x, o); err != nil {
		return nil, err
	}
	return b, nil
}

var errOverflow = fmt.Errorf("kernel PCA: %w: kernel values overflow float32; scale the examples, "+
	"or take a smaller gamma, coef0 or degree", engine.ErrValue)

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

// allEqual reports whether all examples have the values of the first.
func allEqual(x dataset.Examples) bool {
	first := x.Pick([]int{0})
	columns, values := first.Entries(0)
	others := parallel.BlockSums(x.N, 1024, func(from, to int) float64 {
		for i := from; i < to; i++ {
			if c, v := x.Entries(i); !slices.Equal(c, columns) || !slices.Equal(v, values) {
				return 1
			}
		}
		return 0
	})
	return !slices.Contains(others, 1)
}

// Basis is a fitted kernel PCA.
type Basis struct {
	engine.Projection // landmarks, axes and offsets; D = Axes.Q

	// Rows[k] is the index of the training example that is landmark k, in the order of the pivots:
	// landmark k is the chosen example that landmarks 0..k-1 approximate worst.
	Rows []int
	// Eigenvalues[t] = Σ_i z_it² over the training examples i, in decreasing order; nil for
	// coordinates
	Eigenvalues []float64
	// Σ_i ‖φ(x_i) - mean‖²: variance of the training examples in feature space; Σ_i ‖φ(x_i)‖² for
	// coordinates
	Variance float64
	// Σ_it z_it² / Variance: the share of the variance that the components explain
	Explained float64

	DroppedAxes      int // requested axes whose eigenvalue is at most tolerance times the largest
	DroppedLandmarks int // landmarks within tolerance of the span of the others
}

// Project writes the D components of each example of x to dst, x.N × D row-major. A cancelled ctx
// ends it between two blocks of examples, with ctx's error. Other errors: errors from
// Engine.Project.
func (b *Basis) Project(ctx context.Context, e *engine.Engine, dst []float32,
	x dataset.Examples) error {
	if err := x.Check(); err != nil {
		return err
	}
	return e.ProjectBlocks(ctx, dst, x, b.Projection)
}

// Summary describes the result in a line.
func (b *Basis) Summary() string {
	what, share := "components", "variance"
	if b.Eigenvalues == nil {
		what, share = "coordinates", "squared lengths"
	}
	return fmt.Sprintf("%d %s of %d landmarks have %.4g %% of the %s",
		b.Axes.Q, what, b.Landmarks.N, 100*b.Explained, share)
}

// Notes explains dropped landmarks and components, one sentence each.
func (b *Basis) Notes() []string {
	var notes []string
	if b.DroppedLandmarks > 0 {
		notes = append(notes,
			fmt.Sprintf("%d of %d landmarks were dropped: in feature space they are within %v of the "+
				"largest squared length of the span of the others",
				b.DroppedLandmarks, b.DroppedLandmarks+b.Landmarks.N, tolerance))
	}
	if b.DroppedAxes > 0 {
		notes = append(notes,
			fmt.Sprintf("%d of %d axes were dropped: their eigenvalues are at most %v of the largest, "+
				"which is %.6g", b.DroppedAxes, b.DroppedAxes+b.Axes.Q, tolerance, b.Eigenvalues[0]))
	}
	return notes
}

// setAxes sets axes, D rows of m, with their eigenvalues. It turns each axis so that its entry of
// largest magnitude, the first of ties, is positive, and chooses offsets that map mean to 0.
func (b *Basis) setAxes(axes []float32, values, mean []float64) {
	m, d := len(mean), len(values)
	b.Axes = engine.Weights{Q: d, D: m, W: axes}
	b.Offset = make([]float32, d)
	b.Eigenvalues = values
	parallel.Tasks(d, func(t int) {
		row, at := b.Axes.Row(t), 0
		for l, v := range row {
			if math.Abs(float64(v)) > math.Abs(float64(row[at])) {
				at = l
			}
		}
		turn, sum := row[at] < 0, 0.0
		for l, v := range row {
			if turn {
				row[l] = -v
			}
			sum += float64(float64(row[l]) * mean[l])
		}
		b.Offset[t] = float32(-sum)
	})
	b.Explained = lists.Sum(values) / b.Variance
}
