// Package host holds the learning loop and prediction: what goes on between
// data that have been prepared and weights that are ready to be stored.
package host

import (
	"context"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernelmap"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Predict returns the class of each example by the weights w (clauses 1 and 4).
// The examples are prepared as those that w was trained on.
func Predict(e engine.Engine, w engine.Weights, x dataset.Examples) (classes []int32, err error) {
	classes = make([]int32, x.N)
	if x.N == 0 {
		return classes, nil
	}
	r, err := e.Load(x, w.Q)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := r.Close(); err == nil {
			err = e
		}
	}()
	if err := r.Rescore(w, learners.AllClasses(w.Q)); err != nil {
		return nil, err
	}
	return classes, r.Predict(classes)
}

// PredictMapped is Predict for weights w of examples that k maps; x are the examples
// before. It maps and predicts a block of them at a time, so that what k makes of them
// need not all find room. A cancelled ctx ends it with ctx's error.
func PredictMapped(ctx context.Context, e engine.Engine, k *kernelmap.Map, w engine.Weights, x dataset.Examples) ([]int32, error) {
	classes := make([]int32, 0, x.N)
	err := k.Blocks(ctx, e, x, func(z dataset.Examples) error {
		block, err := Predict(e, w, z)
		classes = append(classes, block...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return classes, nil
}
