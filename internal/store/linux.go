//go:build linux

package store

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// dropPages gives back whole pages of a mapped file, if it can.
func dropPages(raw []byte) { syscall.Madvise(raw, syscall.MADV_DONTNEED) }

// populateRead is MADV_POPULATE_READ of Linux 5.14, which reads in large pieces.
const populateRead = 22

// fetch reads a part of a mapped file, or begins to; its users meet the errors.
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

// takeDisk makes sure of room for size bytes of f, where the file system can tell. It asks before
// it takes: a request for more than there is would fill the disk for a moment, for everybody.
func takeDisk(f *os.File, size int) error {
	var disk syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &disk); err == nil && disk.Blocks > 0 &&
		uint64(size)/uint64(disk.Bsize) > disk.Bavail {
		return syscall.ENOSPC
	}
	err := syscall.Fallocate(int(f.Fd()), 0, 0, int64(size))
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) {
		return nil
	}
	return err
}
