package simd

import (
	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// Project: clause 13.
func (processor) Project(dst []float32, x dataset.Examples, p engine.Projection) error {
	return cpuref.New().Project(dst, x, p)
}
