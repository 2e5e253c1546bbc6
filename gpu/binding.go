//go:build linux && cgo && !noopencl

package gpu

// #include <stdlib.h>
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

// binary returns what the driver has compiled a program to, which on a device of NVIDIA is PTX, and
// what its compiler said.
func binary(p *cl.Program, d *cl.Device) (code []byte, log string, err error) {
	program := own[C.cl_program](p)
	var size C.size_t
	if e := C.clGetProgramInfo(program, C.CL_PROGRAM_BINARY_SIZES, C.size_t(unsafe.Sizeof(size)),
		unsafe.Pointer(&size), nil); e != 0 {
		return nil, "", fmt.Errorf("size of a compiled program: OpenCL error %d", int(e))
	}
	// A list of pointers with one entry, in C's memory, as what it points to has to be.
	to := C.malloc(size + C.size_t(unsafe.Sizeof(uintptr(0))))
	defer C.free(to)
	list := (*unsafe.Pointer)(to)
	*list = unsafe.Add(to, unsafe.Sizeof(uintptr(0)))
	if e := C.clGetProgramInfo(program, C.CL_PROGRAM_BINARIES, C.size_t(unsafe.Sizeof(uintptr(0))),
		to, nil); e != 0 {
		return nil, "", fmt.Errorf("read a compiled program: OpenCL error %d", int(e))
	}
	code = C.GoBytes(*list, C.int(size))
	text, length := make([]byte, 1<<20), C.size_t(0)
	if e := C.clGetProgramBuildInfo(program, own[C.cl_device_id](d), C.CL_PROGRAM_BUILD_LOG,
		C.size_t(len(text)), unsafe.Pointer(&text[0]), &length); e != 0 {
		return nil, "", fmt.Errorf("read what the compiler said: OpenCL error %d", int(e))
	}
	return code, string(text[:length]), nil
}

// privateBytes returns the bytes that a work-item of a kernel has in memory and not in registers.
func privateBytes(k *cl.Kernel, d *cl.Device) (int64, error) {
	var size C.cl_ulong
	if e := C.clGetKernelWorkGroupInfo(own[C.cl_kernel](k), own[C.cl_device_id](d),
		C.CL_KERNEL_PRIVATE_MEM_SIZE, C.size_t(unsafe.Sizeof(size)), unsafe.Pointer(&size),
		nil); e != 0 {
		return 0, fmt.Errorf("private memory of a kernel: OpenCL error %d", int(e))
	}
	return int64(size), nil
}
