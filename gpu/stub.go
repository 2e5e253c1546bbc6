//go:build !linux || !cgo || noopencl

package gpu

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/engine"
)

var errNotBuilt = fmt.Errorf("%w: build it on Linux with CGO_ENABLED=1 and without the tag "+
	"noopencl, where gcc, pkg-config and OpenCL's headers are (on Debian the packages gcc, "+
	"pkg-config and ocl-icd-opencl-dev), or use the device cpu", ErrNotBuilt)

// Built says whether this build knows OpenCL.
const Built = false

// Devices returns ErrNotBuilt.
func Devices() ([]Info, error) { return nil, errNotBuilt }

// Open returns ErrNotBuilt.
func Open(Info, Options) (*engine.Engine, error) { return nil, errNotBuilt }

// OpenDriver returns ErrNotBuilt.
func OpenDriver(Info, Options) (engine.Driver, error) { return nil, errNotBuilt }
