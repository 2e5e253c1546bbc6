//go:build cgo && !noopencl

package gpu

import (
	"errors"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

func (e *gpuEngine) LoadEvaluator(x dataset.Examples, classes int, f numerics.FixedPoint) (engine.Evaluator, error) {
	return nil, errors.New("interim")
}

func (e *gpuEngine) PlanEvaluator(x dataset.Examples, classes int) (engine.Plan, error) {
	return engine.Plan{}, errors.New("interim")
}
