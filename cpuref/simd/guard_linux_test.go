package simd

import (
	"syscall"
	"testing"
	"unsafe"
)

// guarded copies v to memory between two pages that nobody may read or write,
// right before the second one or right after the first. A kernel that leaves
// its slice by a single byte in that direction kills the test.
func guarded[T int8 | int32 | int64 | uint16 | float32](t *testing.T, v []T, atEnd bool) []T {
	t.Helper()
	page := syscall.Getpagesize()
	size := len(v) * int(unsafe.Sizeof(*new(T)))
	room := (size + page - 1) / page * page
	all, err := syscall.Mmap(-1, 0, room+2*page, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(all) })
	for _, p := range [][]byte{all[:page], all[page+room:]} {
		if err := syscall.Mprotect(p, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	if size == 0 {
		return v
	}
	at := page
	if atEnd {
		at = page + room - size
	}
	g := unsafe.Slice((*T)(unsafe.Pointer(&all[at])), len(v))
	copy(g, v)
	return g
}
