package pca

import (
	"context"
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// Basis is a fitted kernel PCA: all there is to project examples, and what was found on the way.
type Basis struct {
	engine.Projection      // landmarks, axes and offsets; D = Axes.Q
	Cosine            bool // examples are scaled to length 1 before; the landmarks are

	// Rows[k] is the index of the training example that is landmark k. If every example is a
	// landmark, Rows is 0, 1, 2, …. If only some are, they come in the order of the pivots: landmark
	// k is the chosen example that landmarks 0..k-1 approximate worst.
	Rows []int
	// Eigenvalues[t] = Σ_i z_it² over the training examples i; decreasing, D of them
	Eigenvalues []float64
	Variance    float64 // Σ_i ‖φ(x_i) - mean‖²: variance of the training examples in feature space
	// Σ_t Eigenvalues[t] / Variance: the share that the components have of Variance
	Explained float64

	DroppedAxes      int     // axes asked for whose eigenvalue is at most Tolerance times the largest
	DroppedLandmarks int     // landmarks that the others stand for already, to Tolerance
	Tolerance        float64 // as it was applied
	Steps            int     // dimensions of the Lanczos process; 0 if the problem was solved densely
}

// Prepare returns x as the projection wants it: itself, or for Cosine a copy with rows of
// length 1, until release is called. The error is that of dataset.Preparation.ApplyTo.
func (b *Basis) Prepare(rows dataset.Rows) (x dataset.Stored, release func(), err error) {
	return unitRows(rows.Stored(), b.Cosine)
}

// Project writes the D components of each example of x to dst, x.N × D row-major. A
// cancelled ctx ends it between two blocks of examples, with ctx's error. Other errors:
// those of Prepare and of Engine.Project.
//
// Where ranks share x it takes all of them; each writes the components of its own examples, and no
// others.
func (b *Basis) Project(ctx context.Context, e engine.Engine, dst []float32,
	rows dataset.Rows) error {
	x := rows.Stored()
	if err := x.Agree(x.Check()); err != nil {
		return err
	}
	prepared, release, err := b.Prepare(x)
	if err != nil {
		return err
	}
	defer release()
	if x.At.Shared() == nil {
		return project(ctx, e, dst, prepared.Examples, b.Projection)
	}
	from, to := x.Own()
	own, some := engine.Own(e, prepared)
	return x.Agree(projectOwn(ctx, own, dst[from*b.Width():to*b.Width()], some, b.Projection))
}

// projectOwn is project for what a rank has of examples, which may be none.
func projectOwn(
	ctx context.Context, e engine.Engine, dst []float32, x dataset.Examples, p engine.Projection,
) error {
	if x.N == 0 {
		return nil
	}
	return project(ctx, e, dst, x, p)
}

// projectRows is how many examples are projected between two looks at a context. What an
// engine does for each call, of the landmarks and the axes, is nothing beside so many.
const projectRows = 8192

// project is Engine.Project, a block of examples at a time, so that ctx can end it.
func project(ctx context.Context, e engine.Engine, dst []float32, x dataset.Examples,
	p engine.Projection) error {
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

// Summary says in a line what was found.
func (b *Basis) Summary() string {
	return fmt.Sprintf("%d components of %d landmarks have %.4g %% of the variance",
		b.Axes.Q, b.Landmarks.N, 100*b.Explained)
}

// Notes says what was dropped and why, a sentence each.
func (b *Basis) Notes() []string {
	var notes []string
	if b.DroppedLandmarks > 0 {
		notes = append(notes,
			fmt.Sprintf("%d of %d landmarks were dropped: in feature space the others stand for them but "+
				"for %v of the largest squared length",
				b.DroppedLandmarks, b.DroppedLandmarks+b.Landmarks.N, b.Tolerance))
	}
	if b.DroppedAxes > 0 {
		notes = append(notes,
			fmt.Sprintf("%d of %d axes were dropped: their eigenvalues are at most %v of the largest, "+
				"which is %.6g", b.DroppedAxes, b.DroppedAxes+b.Axes.Q, b.Tolerance, b.Eigenvalues[0]))
	}
	return notes
}

// setAxes takes axes, D rows of m, for the given eigenvalues, turns each so that its entry
// of largest magnitude, the first of them, is positive, and makes offsets that take the
// kernel values mean to 0.
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
	explained := 0.0
	for _, v := range values {
		explained += v
	}
	b.Explained = explained / b.Variance
}

// unitRows returns x, or if unit is set a copy whose rows have length 1, as the preparation step
// l2 has it, until release is called. It asks all ranks.
func unitRows(x dataset.Stored, unit bool) (_ dataset.Stored, release func(), err error) {
	if !unit {
		return x, func() {}, nil
	}
	p, err := features.Fit(dataset.Steps{L2: true}, x)
	if err != nil {
		return x, nil, err
	}
	scaled, err := features.ApplyTo(p, x)
	return scaled, scaled.Close, err
}
