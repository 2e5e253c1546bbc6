// Package verify is the debug switch for engines that keep results up to date instead
// of computing them: it computes everything from scratch as well, at each step, and
// compares bits.
package verify

import (
	"errors"
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// ErrDiffers is what an operation returns whose result is not that of a computation
// from scratch; the text of the error says where.
var ErrDiffers = errors.New("differs from a computation from scratch")

// Engine returns e with all cells verified: each Assign loads the examples once more,
// scores all classes and assigns all examples, and it and the operations up to the next
// Assign return ErrDiffers unless the results agree; after that, everything returns
// engine.ErrFailed. This takes the memory of two residents, and for each step the time of a
// first one. Close closes e.
func Engine(e engine.Engine) engine.Engine { return verified{e} }

// verified spells out every method, so that a new one is noticed here.
type verified struct{ e engine.Engine }

func (v verified) Device() engine.Device { return v.e.Device() }
func (v verified) Close() error          { return v.e.Close() }

// Load returns what e does: it keeps nothing up to date.
func (v verified) Load(x dataset.Examples, classes int) (engine.Scorer, error) {
	return v.e.Load(x, classes)
}

func (v verified) LoadCells(x dataset.Examples, y []int32, classes int, f numerics.FixedPoint) (engine.Cells, error) {
	r, err := v.e.LoadCells(x, y, classes, f)
	if err != nil {
		return nil, err
	}
	return &cells{r: r, e: v.e, x: x, y: y, w: engine.NewWeights(classes, x.D)}, nil
}

// LoadEvaluator returns what e does: it keeps nothing up to date.
func (v verified) LoadEvaluator(x dataset.Examples, classes int, f numerics.FixedPoint) (engine.Evaluator, error) {
	return v.e.LoadEvaluator(x, classes, f)
}

func (v verified) PlanEvaluator(x dataset.Examples, classes int) (engine.Plan, error) {
	return v.e.PlanEvaluator(x, classes)
}

func (v verified) Plan(x dataset.Examples, y []int32, classes int) (engine.Plan, error) {
	return v.e.Plan(x, y, classes)
}

func (v verified) Project(dst []float32, x dataset.Examples, p engine.Projection) error {
	return v.e.Project(dst, x, p)
}

// cells are those of an engine that keeps its results, and what it takes to begin afresh.
type cells struct {
	r      engine.Cells
	e      engine.Engine
	x      dataset.Examples
	y      []int32
	w      engine.Weights // of all calls of Rescore
	fresh  engine.Cells   // of the last Assign, nil before
	failed error          // of the first comparison that failed
}

func (r *cells) Shape() (n, d, q int)            { return r.r.Shape() }
func (r *cells) FixedPoint() numerics.FixedPoint { return r.r.FixedPoint() }

// check ends the use of cells after a failure.
func (r *cells) check(op string) error {
	if r.failed != nil {
		return fmt.Errorf("%s: %w: %w", op, engine.ErrFailed, r.failed)
	}
	return nil
}

// note remembers the first error of a comparison and returns err.
func (r *cells) note(err error) error {
	if err != nil && !errors.Is(err, engine.ErrClosed) {
		r.failed = err
	}
	return err
}

func (r *cells) Rescore(w engine.Weights, classes []int) error {
	if err := r.check("rescore"); err != nil {
		return err
	}
	if err := r.r.Rescore(w, classes); err != nil {
		return err
	}
	for _, c := range classes {
		copy(r.w.Row(c), w.Row(c))
	}
	return nil
}

func (r *cells) Scores(dst []float32, from, to int) error {
	if err := r.check("scores"); err != nil {
		return err
	}
	return r.r.Scores(dst, from, to)
}

func (r *cells) Predict(dst []int32) error {
	if err := r.check("predict"); err != nil {
		return err
	}
	return r.r.Predict(dst)
}

func (r *cells) ClassSums(dst []int64, p int) error {
	if err := r.check("class sums"); err != nil {
		return err
	}
	return r.r.ClassSums(dst, p)
}

func (r *cells) Assign(alpha float32) (engine.Assignment, error) {
	if err := r.check("assign"); err != nil {
		return engine.Assignment{}, err
	}
	a, err := r.r.Assign(alpha)
	if err != nil {
		return a, err
	}
	return a, r.note(r.compare(a, alpha))
}

// compare compares an assignment, and the class sums, with those of a fresh start.
func (r *cells) compare(a engine.Assignment, alpha float32) error {
	if err := r.begin(); err != nil {
		return err
	}
	b, err := r.fresh.Assign(alpha)
	if err != nil {
		return err
	}
	if err := same("assign: predicted", a.Predicted, b.Predicted); err != nil {
		return err
	}
	if err := same("assign: regions", a.Regions, b.Regions); err != nil {
		return err
	}
	q := r.w.Q
	kept, scratch := make([]int64, q*r.w.D), make([]int64, q*r.w.D)
	for p := range q {
		if err := errors.Join(r.r.ClassSums(kept, p), r.fresh.ClassSums(scratch, p)); err != nil {
			return err
		}
		if err := same(fmt.Sprintf("class sums of region %d", p), kept, scratch); err != nil {
			return err
		}
	}
	return nil
}

// begin loads the examples once more and scores them.
func (r *cells) begin() (err error) {
	if err := r.end(); err != nil {
		return err
	}
	if r.fresh, err = r.e.LoadCells(r.x, r.y, r.w.Q, r.FixedPoint()); err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	all := make([]int, r.w.Q)
	for c := range all {
		all[c] = c
	}
	return r.fresh.Rescore(r.w, all)
}

func (r *cells) end() error {
	if r.fresh == nil {
		return nil
	}
	err := r.fresh.Close()
	r.fresh = nil
	return err
}

func (r *cells) Norms(dst, inv []float32) error {
	if err := r.check("norms"); err != nil {
		return err
	}
	if err := r.r.Norms(dst, inv); err != nil || r.fresh == nil {
		return err
	}
	scratch := make([]float32, len(dst))
	if err := r.fresh.Norms(scratch, inv); err != nil {
		return r.note(err)
	}
	return r.note(same("norms", bits(dst), bits(scratch)))
}

func (r *cells) UpdateVectors(dst []float32, pairs []engine.Pair, inv []float32) error {
	if err := r.check("update vectors"); err != nil {
		return err
	}
	if err := r.r.UpdateVectors(dst, pairs, inv); err != nil || r.fresh == nil {
		return err
	}
	scratch := make([]float32, len(dst))
	if err := r.fresh.UpdateVectors(scratch, pairs, inv); err != nil {
		return r.note(err)
	}
	return r.note(same("update vectors", bits(dst), bits(scratch)))
}

func (r *cells) Close() error { return errors.Join(r.end(), r.r.Close()) }

// bits returns float32 as their bits, in which every NaN equals itself.
func bits(v []float32) []uint32 {
	b := make([]uint32, len(v))
	for k, f := range v {
		b[k] = math.Float32bits(f)
	}
	return b
}

func same[T int64 | uint32](what string, kept, scratch []T) error {
	for k := range scratch {
		if kept[k] != scratch[k] {
			return fmt.Errorf("%s %w: at index %d found %#x, wanted %#x", what, ErrDiffers, k, kept[k], scratch[k])
		}
	}
	return nil
}
