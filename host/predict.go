package host

import (
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
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
	if err := r.Rescore(w, allClasses(w.Q)); err != nil {
		return nil, err
	}
	return classes, r.Predict(classes)
}
