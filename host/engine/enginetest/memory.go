package enginetest

import (
	"errors"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// checkMemory has class sums that no machine holds, of examples that are easily scored:
// cells are refused, before anything of their size is taken, and scores are not.
func checkMemory(e engine.Engine) error {
	x, y := dataset.Examples{N: 2, D: 500, X: make([]float32, 2*500)}, []int32{0, 1}
	for j := range x.D {
		x.Row(0)[j], x.Row(1)[j] = 1, -1
	}
	const q = 30000 // 3.6 TB
	if r, err := e.LoadCells(x, y, q, numerics.FixedPoint{}); !errors.Is(err, engine.ErrMemory) ||
		r != nil {
		return fmt.Errorf("cells of %d classes: %v, want %v", q, err, engine.ErrMemory)
	}
	if _, err := e.Plan(x, y, q); !errors.Is(err, engine.ErrMemory) {
		return fmt.Errorf("plan for cells of %d classes: %v, want %v", q, err, engine.ErrMemory)
	}
	if _, err := e.Plan(x, nil, q); err != nil {
		return fmt.Errorf("plan for scores of %d classes: %w", q, err)
	}
	r, err := e.Load(x, q)
	if err != nil {
		return err
	}
	w := engine.NewWeights(q, x.D)
	w.Row(q - 1)[0], w.Row(3)[1] = 1, -1
	if err := r.Rescore(w, []int{q - 1, 3}); err != nil {
		return err
	}
	if err := into([]int32{q - 1, 3}, "predict", same[int32], r.Predict); err != nil {
		return err
	}
	if err := r.Close(); err != nil {
		return err
	}
	// Sizes whose product is 2^64 bytes and more.
	wide := dataset.Examples{N: 1, D: 1 << 21, X: make([]float32, 1<<21)}
	if r, err := e.LoadCells(wide, y[:1], 1<<15-1, numerics.FixedPoint{}); !errors.Is(err,
		engine.ErrMemory) || r != nil {
		return fmt.Errorf("class sums of 2^64 bytes: %v, want %v", err, engine.ErrMemory)
	}
	return nil
}
