// Package gpu is the engine on OpenCL 1.2 devices. It cuts the examples into tiles, keeps tiles in
// device memory until it is full, streams the others, and runs the kernels of gpu/kernels on them.
// It is the only importer of go-opencl.
//
// Built without cgo, with the tag noopencl or for another system than Linux, the package
// has the same names and every use says that OpenCL is not built in.
package gpu

import (
	"errors"
	"fmt"
	"strings"
)

// The ways in which there can be no device; test with errors.Is. The text of the
// error says what to install.
var (
	ErrNotBuilt   = errors.New("this program was built without OpenCL")
	ErrNoLoader   = errors.New("no OpenCL loader")
	ErrNoPlatform = errors.New("no OpenCL platform")
	ErrNoDevice   = errors.New("no OpenCL device")
)

// ErrNonconforming says that a device does not compute by the numerics contract.
var ErrNonconforming = errors.New("the device does not compute by the numerics contract")

// Info describes one OpenCL device as its driver does.
type Info struct {
	Platform     int    `json:"platform"` // index P of opencl:P.D
	Device       int    `json:"device"`   // index D of opencl:P.D
	PlatformName string `json:"platform_name"`
	Name         string `json:"name"`
	Vendor       string `json:"vendor"`
	Type         string `json:"type"`    // CPU, GPU, Accelerator
	Version      string `json:"version"` // of OpenCL
	Driver       string `json:"driver"`
	Memory       int64  `json:"memory_bytes"`
	MaxAlloc     int64  `json:"max_allocation_bytes"` // of one buffer
	ComputeUnits int    `json:"compute_units"`
	SharesMemory bool   `json:"shares_memory"` // with the host
	// FP is what the device promises of its float32 arithmetic. What it keeps is for the self-test
	// to say.
	FP struct {
		Denormals      bool `json:"denormals"`
		InfNaN         bool `json:"inf_nan"`
		RoundToNearest bool `json:"round_to_nearest"`
		FMA            bool `json:"fast_fma"` // fma is correctly rounded in any case, by OpenCL's rules
	} `json:"float32"`
}

// ID returns the name that --device accepts, opencl:P.D.
func (i Info) ID() string { return fmt.Sprintf("opencl:%d.%d", i.Platform, i.Device) }

// usable returns how much of the device's memory buffers may take, at most limit unless it is 0.
// A driver keeps things of its own in device memory, and many allocate a buffer only when it is
// first used: what does not fit then fails late, and without a name.
func (i Info) usable(limit int64) int64 {
	usable := i.Memory
	if !i.SharesMemory {
		usable -= usable / 16
	}
	if limit > 0 {
		return min(usable, limit)
	}
	return usable
}

// processor reports whether the device is the processor.
func (i Info) processor() bool { return strings.Contains(i.Type, "CPU") }

// Options of Open.
type Options struct {
	// MaxAlloc bounds one buffer, in bytes; 0 means the device's own limit.
	MaxAlloc int64
	// MemoryLimit bounds all buffers together, in bytes; 0 means the device's memory. A sixteenth of
	// it is left free in any case, unless the device shares the host's. Examples that do not fit are
	// streamed from host memory.
	MemoryLimit int64
}
