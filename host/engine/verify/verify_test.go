package verify

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/enginetest"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// A verified engine is an engine.
func TestConformance(t *testing.T) {
	enginetest.Run(t, Engine(simd.New()), enginetest.TinyCases())
}

// broken is an engine that falsifies one operation from the second assignment on.
type broken struct {
	engine.Engine
	what string
}

func (b broken) LoadCells(x dataset.Examples, y []int32, classes int, f numerics.FixedPoint) (engine.Cells, error) {
	r, err := b.Engine.LoadCells(x, y, classes, f)
	return &brokenResident{Cells: r, what: b.what}, err
}

type brokenResident struct {
	engine.Cells
	what    string
	assigns int
}

func (r *brokenResident) breaks(what string) bool { return r.what == what && r.assigns > 1 }

func (r *brokenResident) Assign(alpha float32) (engine.Assignment, error) {
	a, err := r.Cells.Assign(alpha)
	r.assigns++
	if r.breaks("assign: predicted") {
		a.Predicted[0]++
	}
	if r.breaks("assign: regions") {
		a.Regions[len(a.Regions)-1]--
	}
	return a, err
}

func (r *brokenResident) ClassSums(dst []int64, p int) error {
	err := r.Cells.ClassSums(dst, p)
	if r.breaks("class sums of region 1") && p == 1 {
		dst[len(dst)-1]++
	}
	return err
}

func (r *brokenResident) Norms(dst, inv []float32) error {
	err := r.Cells.Norms(dst, inv)
	if r.breaks("norms") {
		dst[len(dst)-1]++
	}
	return err
}

func (r *brokenResident) UpdateVectors(dst []float32, pairs []engine.Pair, inv []float32) error {
	err := r.Cells.UpdateVectors(dst, pairs, inv)
	if r.breaks("update vectors") && len(dst) > 0 {
		dst[len(dst)-1]++
	}
	return err
}

func TestClose(t *testing.T) {
	enginetest.RunClose(t, func() engine.Engine { return Engine(simd.New()) })
}

func TestNotices(t *testing.T) {
	for _, what := range []string{"assign: predicted", "assign: regions", "class sums of region 1", "norms",
		"update vectors"} {
		found := false
		for _, c := range enginetest.TinyCases() {
			err := c.Check(Engine(broken{cpuref.New(), what}))
			found = found || errors.Is(err, ErrDiffers) && strings.Contains(err.Error(), what)
		}
		if !found {
			t.Errorf("%s: nothing noticed", what)
		}
		if err := failed(what); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// failed makes an operation differ and judges what comes after it.
func failed(what string) error {
	r, err := enginetest.Small(Engine(broken{cpuref.New(), what}))
	if err != nil {
		return err
	}
	w, f := engine.Weights{Q: 2, D: 2, W: []float32{1, 0, 0, 1}}, make([]float32, 4)
	for range 2 {
		if err = r.Rescore(w, []int{0, 1}); err == nil {
			_, err = r.Assign(0)
		}
		if err == nil {
			err = errors.Join(r.Norms(f, f), r.UpdateVectors(f[:2], []engine.Pair{{P: 1, Q: 1}}, f))
		}
	}
	if !errors.Is(err, ErrDiffers) {
		return fmt.Errorf("found %v, want %v", err, ErrDiffers)
	}
	return enginetest.CheckFailed(r)
}
