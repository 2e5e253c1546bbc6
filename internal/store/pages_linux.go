package store

import (
	"os"
	"syscall"
	"unsafe"
)

// populateRead is MADV_POPULATE_READ, which Linux has since 5.14: it reads as one who goes through
// the pages does, so far ahead as the system is set to, in large pieces.
const populateRead = 22

// fetch reads a part of a mapped file, or only begins to. What is wrong with the part is for those
// to tell who use it.
func fetch(part []byte, wait bool) {
	// of a part that is no longer than what the system is set to read ahead
	advice := syscall.MADV_WILLNEED
	if wait {
		advice = populateRead
	}
	before := int(Address(part) % uintptr(os.Getpagesize())) // also of the file: it is mapped by pages
	first := (*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(part)), -before))
	_ = syscall.Madvise(unsafe.Slice(first, before+len(part)), advice)
}
