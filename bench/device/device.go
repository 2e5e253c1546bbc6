// Package device opens the engine that a flag of a bench program names.
package device

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/gpu"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// Usage is the help of a flag for Open.
const Usage = "compute on `NAME`: cpu, cpu:plain or opencl (the first OpenCL device); the bits are the same"

// Open returns the engine of a name.
func Open(name string) (engine.Engine, error) {
	switch name {
	case "cpu":
		return simd.New(), nil
	case "cpu:plain":
		return cpuref.New(), nil
	case "opencl":
		all, err := gpu.Devices()
		if err != nil {
			return nil, fmt.Errorf("opencl: %w (the device cpu needs no OpenCL)", err)
		}
		return gpu.Open(all[0], gpu.Options{})
	}
	return nil, fmt.Errorf("device: unknown name: got %q, want cpu, cpu:plain or opencl", name)
}
