package kernelpca

import (
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// Basis is a fitted kernel PCA: all there is to project examples, and what was found on
// the way.
type Basis struct {
	engine.Projection      // landmarks, axes and offsets; D = Axes.Q
	Cosine            bool // examples are scaled to length 1 before; the landmarks are

	// Rows[k] is the index of the training example that is landmark k. If every example is a
	// landmark, Rows is 0, 1, 2, …. If only some are, they come in the order of the pivots: landmark k
	// is the chosen example that landmarks 0..k-1 approximate worst.
	Rows        []int
	Eigenvalues []float64 // Eigenvalues[t] = Σ_i z_it² over the training examples i; decreasing, D of them
	Variance    float64   // Σ_i ‖φ(x_i) - mean‖²: variance of the training examples in feature space
	Explained   float64   // Σ_t Eigenvalues[t] / Variance: the share that the components have of Variance

	DroppedAxes      int     // axes asked for whose eigenvalue is at most Tolerance times the largest
	DroppedLandmarks int     // landmarks that the others stand for already, to Tolerance
	Tolerance        float64 // as it was applied
	Steps            int     // dimensions of the Lanczos process; 0 if the problem was solved densely
}

// Prepare returns x as the projection wants it: itself, or for Cosine a copy with rows of
// length 1. The error is that of dataset.Preparation.Apply.
func (b *Basis) Prepare(x dataset.Examples) (dataset.Examples, error) {
	if !b.Cosine {
		return x, nil
	}
	return unitRows(x)
}

// Project writes the D components of each example of x to dst, x.N × D row-major. Errors:
// those of Prepare and of Engine.Project.
func (b *Basis) Project(e engine.Engine, dst []float32, x dataset.Examples) error {
	x, err := b.Prepare(x)
	if err != nil {
		return err
	}
	return e.Project(dst, x, b.Projection)
}

// Notes says what was dropped and why, a sentence each.
func (b *Basis) Notes() []string {
	var notes []string
	if b.DroppedLandmarks > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d landmarks were dropped: in feature space the others stand for them but for %v of the largest squared length",
			b.DroppedLandmarks, b.DroppedLandmarks+b.Landmarks.N, b.Tolerance))
	}
	if b.DroppedAxes > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d axes were dropped: their eigenvalues are at most %v of the largest, which is %.6g",
			b.DroppedAxes, b.DroppedAxes+b.Axes.Q, b.Tolerance, b.Eigenvalues[0]))
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
	parallel(d, func(t int) {
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

// unitRows scales each row to length 1, as the preparation step l2 does.
func unitRows(x dataset.Examples) (dataset.Examples, error) {
	p, err := dataset.Fit(dataset.Steps{L2: true}, x)
	if err != nil {
		return x, err
	}
	return p.Apply(x)
}
