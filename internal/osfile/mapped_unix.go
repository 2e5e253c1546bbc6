//go:build unix

package osfile

import (
	"os"
	"syscall"
)

func mapFile(f *os.File, size int) (raw []byte, heap bool, err error) {
	raw, err = syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	return raw, false, err
}

func mapWritable(f *os.File, size int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}

func unmap(raw []byte) error { return syscall.Munmap(raw) }
