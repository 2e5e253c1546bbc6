//go:build linux

package osfile

import (
	"errors"
	"os"
	"syscall"
)

// reserve makes sure of room for size bytes of f, where the file system can tell: a write to a
// mapped file on a full disk is a fault. It asks first, since a request for more than there is
// would fill the disk for a moment, for everybody.
func reserve(f *os.File, size int) error {
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
