package simd

import (
	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

func (e *processor) LoadEvaluator(x dataset.Examples, classes int, f numerics.FixedPoint) (engine.Evaluator, error) {
	return cpuref.New().LoadEvaluator(x, classes, f)
}

func (e *processor) PlanEvaluator(x dataset.Examples, classes int) (engine.Plan, error) {
	return cpuref.New().PlanEvaluator(x, classes)
}
