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
)

// ErrDiffers is what an operation returns whose result is not that of a computation
// from scratch; the text of the error says where.
var ErrDiffers = errors.New("differs from a computation from scratch")

// Engine returns e with every resident verified: each Assign loads the examples once
// more, scores all classes and assigns all examples, and it and the operations up to
// the next Assign return ErrDiffers unless the results agree. This takes the memory of
// two residents, and for each step the time of a first one. Close closes e.
func Engine(e engine.Engine) engine.Engine { return verified{e} }

type verified struct{ engine.Engine }

func (v verified) Load(x dataset.Examples, y []int32, classes int) (engine.Resident, error) {
	r, err := v.Engine.Load(x, y, classes)
	if err != nil {
		return nil, err
	}
	return &resident{Resident: r, e: v.Engine, x: x, y: y, w: engine.NewWeights(classes, x.D)}, nil
}

// resident is one that keeps its results, and what it takes to begin afresh.
type resident struct {
	engine.Resident
	e     engine.Engine
	x     dataset.Examples
	y     []int32
	w     engine.Weights  // of all calls of Rescore
	fresh engine.Resident // of the last Assign, nil before
}

func (r *resident) Rescore(w engine.Weights, classes []int) error {
	if err := r.Resident.Rescore(w, classes); err != nil {
		return err
	}
	for _, c := range classes {
		copy(r.w.Row(c), w.Row(c))
	}
	return nil
}

func (r *resident) Assign(alpha float32) (engine.Assignment, error) {
	a, err := r.Resident.Assign(alpha)
	if err != nil {
		return a, err
	}
	if err := r.begin(); err != nil {
		return a, err
	}
	b, err := r.fresh.Assign(alpha)
	if err != nil {
		return a, err
	}
	q := r.w.Q
	if err := same("assign: predicted", a.Predicted, b.Predicted); err != nil {
		return a, err
	}
	if err := same("assign: regions", a.Regions, b.Regions); err != nil {
		return a, err
	}
	kept, scratch := make([]int64, q*r.w.D), make([]int64, q*r.w.D)
	for p := range q {
		if err := errors.Join(r.Resident.ClassSums(kept, p), r.fresh.ClassSums(scratch, p)); err != nil {
			return a, err
		}
		if err := same(fmt.Sprintf("class sums of region %d", p), kept, scratch); err != nil {
			return a, err
		}
	}
	return a, nil
}

// begin loads the examples once more and scores them.
func (r *resident) begin() (err error) {
	if err := r.end(); err != nil {
		return err
	}
	if r.fresh, err = r.e.Load(r.x, r.y, r.w.Q); err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	all := make([]int, r.w.Q)
	for c := range all {
		all[c] = c
	}
	return r.fresh.Rescore(r.w, all)
}

func (r *resident) end() error {
	if r.fresh == nil {
		return nil
	}
	err := r.fresh.Close()
	r.fresh = nil
	return err
}

func (r *resident) Norms(dst, inv []float32) error {
	if err := r.Resident.Norms(dst, inv); err != nil || r.fresh == nil {
		return err
	}
	scratch := make([]float32, len(dst))
	if err := r.fresh.Norms(scratch, inv); err != nil {
		return err
	}
	return same("norms", bits(dst), bits(scratch))
}

func (r *resident) UpdateVectors(dst []float32, pairs []engine.Pair, inv []float32) error {
	if err := r.Resident.UpdateVectors(dst, pairs, inv); err != nil || r.fresh == nil {
		return err
	}
	scratch := make([]float32, len(dst))
	if err := r.fresh.UpdateVectors(scratch, pairs, inv); err != nil {
		return err
	}
	return same("update vectors", bits(dst), bits(scratch))
}

func (r *resident) Close() error { return errors.Join(r.end(), r.Resident.Close()) }

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
