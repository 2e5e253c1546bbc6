package simd

import (
	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// LoadBins loads binned examples, which stay the caller's.
func (*processor) LoadBins(b dataset.Binned, classes, all int) (engine.LoadedBins, error) {
	return cpuref.Driver{}.LoadBins(b, classes, all)
}
