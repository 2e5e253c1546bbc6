//go:build linux && cgo && !noopencl

package gpu

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// LoadBins returns an error: there are no kernels for binned examples.
func (e *deviceEngine) LoadBins(dataset.Binned, int, int) (engine.LoadedBins, error) {
	return nil, fmt.Errorf("%w: %s has no kernels for binned examples", engine.ErrMemory, e.info.ID())
}
