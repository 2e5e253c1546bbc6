//go:build cgo && !noopencl

package gpu

import (
	"errors"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// Project: clause 13.
func (e *gpuEngine) Project(dst []float32, x dataset.Examples, p engine.Projection) error {
	return errors.ErrUnsupported
}
