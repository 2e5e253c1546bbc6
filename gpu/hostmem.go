//go:build linux && cgo && !noopencl

package gpu

// #include <stdlib.h>
import "C"

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/uma-gpu/uma-gpu/host/engine"
)

// staging is host memory through which small writes go: the device copies from it
// when it comes to them, and the host need not wait. A step makes a dozen of them.
type staging struct {
	room []byte // of C, where the device may keep a pointer to it
	used int
}

const (
	stagingRoom = 1 << 20
	stagingMost = 1 << 16 // of one write
)

func newStaging() (staging, error) {
	p := C.malloc(stagingRoom)
	if p == nil {
		return staging{}, fmt.Errorf("%w: the host has no %d bytes for small transfers",
			engine.ErrMemory, stagingRoom)
	}
	return staging{room: unsafe.Slice((*byte)(p), stagingRoom)}, nil
}

// take returns room for n bytes, which stays as the caller leaves it until reset; nil
// if there is none.
func (s *staging) take(n int) []byte {
	const align = 64
	if n > stagingMost || n > len(s.room)-s.used {
		return nil
	}
	room := s.room[s.used : s.used+n : s.used+n]
	s.used += (n + align - 1) / align * align
	return room
}

// reset makes the room free again, once the device has done all that was enqueued.
func (s *staging) reset() { s.used = 0 }

func (s *staging) free() {
	C.free(unsafe.Pointer(unsafe.SliceData(s.room)))
	*s = staging{}
}

// pins holds what residents pinned until they are closed. A Pinner that nobody
// holds ends the program, and a resident that somebody forgot to close should not.
var pins sync.Map // *resident → *runtime.Pinner; pinners of lost projections, by themselves

// pin keeps the caller's examples, at first, in place while the device uses them.
func (r *resident) pin(first unsafe.Pointer) {
	p := new(runtime.Pinner)
	if other, there := pins.LoadOrStore(r, p); there {
		p = other.(*runtime.Pinner)
	}
	p.Pin(first)
}

// unpin ends that, unless the device is lost and may use them still.
func (r *resident) unpin() {
	if r.e.q.lost {
		return
	}
	if p, there := pins.LoadAndDelete(r); there {
		p.(*runtime.Pinner).Unpin()
	}
}
