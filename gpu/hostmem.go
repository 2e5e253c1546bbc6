//go:build cgo && !noopencl

package gpu

// #include <stdlib.h>
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/uma-gpu/uma-gpu/host/engine"
)

// page is the alignment that lets a device use host memory in place.
const page = 4096

// newHost allocates n zeros outside the Go heap, where a device may keep a
// pointer to them. freeHost frees them.
func newHost[T element](n int) ([]T, error) {
	size := (n*int(unsafe.Sizeof(*new(T))) + page) / page * page
	p := C.aligned_alloc(page, C.size_t(size))
	if p == nil {
		return nil, fmt.Errorf("%w: the host has no %d bytes for examples that are streamed", engine.ErrMemory, size)
	}
	v := unsafe.Slice((*T)(p), n)
	clear(v)
	return v, nil
}

func freeHost[T element](v []T) {
	if cap(v) > 0 {
		C.free(unsafe.Pointer(unsafe.SliceData(v)))
	}
}
