package engine

import (
	"errors"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// Scorer is a data set on an engine, with the scores of the current weights.
//
// Several data sets of one engine may be used at the same time, each by one goroutine. Every method
// that returns an error returns ErrClosed after Close of the data set or of its engine. Arguments
// that are refused (ErrShape, ErrValue) leave everything as it was. Any other error may leave
// scores and cells inconsistent: all later calls but Close return ErrFailed. Arguments are never
// modified, except for dst, counts and sums.
type Scorer struct {
	held
	loaded  Loaded
	n, d, q int
	fixed   numerics.FixedPoint

	predicted []int32 // of CountPredicted
}

// Shape returns the numbers of examples, features and classes.
func (s *Scorer) Shape() (n, d, q int) { return s.n, s.d, s.q }

// held is what an engine holds for its user, until Close of either.
type held struct {
	e      *Engine
	close  func() error // nil when closed
	failed error        // of the first operation that failed
}

// Close frees the loaded data. A second Close does nothing.
func (h *held) Close() (err error) {
	h.e.locked(func() {
		if h.close != nil {
			err = h.close()
		}
		h.close = nil
	})
	return err
}

// do computes an operation, unless check refuses its arguments.
func (h *held) do(op string, check error, compute func() error) (err error) {
	h.e.locked(func() {
		switch {
		case h.close == nil || h.e.closed:
			err = ErrClosed
		case h.failed != nil:
			err = fmt.Errorf("%w: %w", ErrFailed, h.failed)
		case check != nil:
			err = check
		default:
			err = compute()
			h.failed = named(op, err)
		}
	})
	return named(op, err)
}

// Rescore computes the scores of the given classes, each named once, for all examples from their
// rows of w (clause 1).
func (s *Scorer) Rescore(w Weights, classes []int) error {
	return s.do("rescore", checkRescore(w, classes, s.d, s.q), func() error {
		return s.loaded.Rescore(w, classes)
	})
}

// Scores copies the scores of examples from..to-1 to dst, (to-from)×Q row-major.
func (s *Scorer) Scores(dst []float32, from, to int) error {
	return s.do("scores", checkScores(dst, from, to, s.n, s.q), func() error {
		return s.loaded.Scores(dst, from, to)
	})
}

// Predict writes the prediction of each example to dst (clause 4). It leaves cells as they are.
func (s *Scorer) Predict(dst []int32) error {
	return s.do("predict", checkLen("dst", len(dst), s.n), func() error {
		return s.loaded.Predict(dst)
	})
}

// CountPredicted writes to counts[p*Q+k] how many examples have prediction p and label k; y has a
// label for each example. Errors: ErrShape, ErrLabel.
func (s *Scorer) CountPredicted(counts []int64, y []int32) error {
	err := errors.Join(checkLen("counts", len(counts), s.q*s.q), checkLabels(y, s.n, s.q))
	return s.do("count predicted", err, func() error {
		if s.predicted == nil {
			s.predicted = make([]int32, s.n)
		}
		if err := s.loaded.Predict(s.predicted); err != nil {
			return err
		}
		clear(counts)
		Count(counts, s.predicted, y, s.q)
		return nil
	})
}

// Cells is a Scorer of examples with noisy labels. It keeps the cells of the last assignment and
// their class sums, Q·Q·d integers. The sums of several data sets in the same fixed-point format
// may be added, and passed to UpdateVector.
type Cells struct{ *Scorer }

func (c *Cells) driven() LoadedCells { return c.loaded.(LoadedCells) }

// FixedPoint returns the fixed-point format of the class sums (clause 3).
func (c *Cells) FixedPoint() numerics.FixedPoint { return c.fixed }

// Assign puts each example into the cell of its region and noisy label, and updates the class sums
// (clauses 4 and 5).
func (c *Cells) Assign(alpha float32) (a Assignment, err error) {
	err = c.do("assign", nil, func() (err error) {
		a, err = c.driven().Assign(alpha)
		return err
	})
	return a, err
}

// ClassSums copies Γ[p], Q×d row-major in fixed point, to dst.
func (c *Cells) ClassSums(dst []int64, p int) error {
	err := errors.Join(checkClass(p, c.q), checkLen("dst", len(dst), c.q*c.d))
	return c.do("class sums", err, func() error { return c.driven().ClassSums(dst, p) })
}

// Norms writes ‖z_pq‖² to dst[p*Q+q] for every pair (clause 6), p = q included; 0 where region p is
// empty. inv is B = float32(C⁻¹), Q×Q row-major.
func (c *Cells) Norms(dst, inv []float32) error {
	err := errors.Join(checkLen("dst", len(dst), c.q*c.q), checkLen("inv", len(inv), c.q*c.q))
	return c.do("norms", err, func() error { return c.driven().Norms(dst, inv) })
}

// UpdateVectors writes the d values of z_pq for each pair to dst, row by row (clause 6).
func (c *Cells) UpdateVectors(dst []float32, pairs []Pair, inv []float32) error {
	return c.do("update vectors", checkUpdateVectors(dst, pairs, inv, c.d, c.q), func() error {
		return c.driven().UpdateVectors(dst, pairs, inv)
	})
}

// Evaluator is a Scorer that compares scores with targets. Its results are the loss of weights W
// and the weighted sums that are its gradient, in integers: sums of several parts of a data set
// may be added if each part begins at a multiple of 256 examples and all have the same fixed-point
// format.
type Evaluator struct {
	*Scorer
	hasTargets bool
}

func (v *Evaluator) driven() LoadedEvaluator { return v.loaded.(LoadedEvaluator) }

// FixedPoint returns the fixed-point format of the weighted sums (clause 3). Losses have the format
// numerics.LossFormat of the same number of examples.
func (v *Evaluator) FixedPoint() numerics.FixedPoint { return v.fixed }

// SetTargets sets the targets of all examples; the engine may keep references to t's slices until
// the next SetTargets or Close. Errors: ErrShape, ErrValue.
func (v *Evaluator) SetTargets(t Targets) error {
	return v.do("set targets", checkTargets(t, v.n, v.q), func() error {
		v.hasTargets = true
		return v.driven().SetTargets(t)
	})
}

// Evaluate computes the scores of all classes from w, the residuals and losses of the examples, and
// writes the weighted sums of the residuals, Q×d row-major in fixed point, to sums (clauses 1, 14,
// 15 and 16). Scores returns the scores afterwards. ErrShape also before the first SetTargets.
func (v *Evaluator) Evaluate(sums []int64, w Weights) (found Evaluation, err error) {
	check := errors.Join(checkWeights(w, v.d, v.q), checkLen("sums", len(sums), v.q*v.d))
	if !v.hasTargets {
		check = fmt.Errorf("%w: found no targets, want a call of SetTargets before", ErrShape)
	}
	err = v.do("evaluate", check, func() (err error) {
		found, err = v.driven().Evaluate(sums, w)
		return err
	})
	return found, err
}

// WeightedSums writes Σ a[i][r]·x_i, R×d row-major in fixed point, to sums (clause 14). a is n×R
// row-major, R = len(a)/n at least 1. Scores stay as they are. ErrValue for a coefficient outside
// -1 to 1.
func (v *Evaluator) WeightedSums(sums []int64, a []float32) error {
	return v.do("weighted sums", checkWeightedSums(sums, a, v.n, v.d), func() error {
		return v.driven().WeightedSums(sums, a)
	})
}
