package pca

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// counting calls cancel in the call of Project with number at, from 1.
type counting struct {
	engine.Driver
	calls, at int
	cancel    func()
}

func (e *counting) Project(dst []float32, x dataset.Examples, p engine.Projection) error {
	if e.calls++; e.calls == e.at {
		e.cancel()
	}
	return e.Driver.Project(dst, x, p)
}

// A cancelled context ends every kind of fit with its error, whenever it comes: the engine
// is asked for nothing large after it.
func TestFitCancelled(t *testing.T) {
	small, _ := generated(60, 7, 1)
	large, _ := generated(panelSize+40, 7, 1)
	for name, c := range map[string]struct {
		x dataset.Examples
		o Options
	}{
		"landmarks":      {small, Options{Function: rbf, Components: 5, Landmarks: 30}},
		"many landmarks": {large, Options{Function: rbf, Components: 5, Landmarks: panelSize + 20}},
	} {
		all := &counting{Driver: simd.NewDriver()}
		if _, err := Fit(context.Background(), engine.New(all), c.x, c.o); err != nil {
			t.Fatal(err)
		}
		// Of the last call the fit may have all it needs.
		for _, at := range []int{0, 1, all.calls / 2, all.calls - 1} {
			if at == all.calls {
				continue
			}
			ctx, cancel := context.WithCancel(context.Background())
			e := &counting{Driver: simd.NewDriver(), at: at, cancel: cancel}
			if at == 0 {
				cancel()
			}
			b, err := Fit(ctx, engine.New(e), c.x, c.o)
			cancel()
			if !errors.Is(err, context.Canceled) || b != nil {
				t.Errorf("%s: cancelled in call %d of %d: basis %v, error %v", name, at, all.calls, b != nil,
					err)
			}
		}
	}
}

// Examples projected block by block have the same bits, and an error names the block.
func TestProjectInBlocks(t *testing.T) {
	x, _ := generated(10_000, 3, 1) // more than a block
	b := fit(t, simd.New(), x.Part(0, 40), Options{Function: rbf, Components: 4})
	want, got := make([]float32, x.N*4), make([]float32, x.N*4)
	if err := simd.New().Project(want, x, b.Projection); err != nil {
		t.Fatal(err)
	}
	e := &counting{Driver: simd.NewDriver()}
	if err := b.Project(context.Background(), engine.New(e), got, x.Compressed()); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) || e.calls != 2 {
		t.Errorf("other bits in %d blocks", e.calls)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	e = &counting{Driver: simd.NewDriver(), at: 1, cancel: cancel}
	if err := b.Project(ctx, engine.New(e), got, x); !errors.Is(err, context.Canceled) ||
		e.calls != 1 {
		t.Errorf("cancelled in the first block: %v after %d calls", err, e.calls)
	}
	if err := b.Project(context.Background(), engine.New(e), got[1:], x); !errors.Is(err,
		engine.ErrShape) {
		t.Errorf("too short a destination: %v", err)
	}
	x.X = x.X[1:]
	if err := b.Project(context.Background(), engine.New(e), got, x); err == nil {
		t.Error("examples of a wrong size were projected")
	}
}
