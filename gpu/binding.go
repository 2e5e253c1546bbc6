//go:build linux && cgo && !noopencl

package gpu

// #include <CL/cl.h>
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/jgillich/go-opencl/cl"
)

// own is OpenCL's own object, which the binding keeps in the first field of its.
func own[H, T any](of *T) H { return *(*H)(unsafe.Pointer(of)) }

// flush has the device begin with what was enqueued; the binding's Flush waits for the end of it.
func flush(q *cl.CommandQueue) error {
	if e := C.clFlush(own[C.cl_command_queue](q)); e != 0 {
		return fmt.Errorf("flush: OpenCL error %d", int(e))
	}
	return nil
}
