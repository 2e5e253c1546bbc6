//go:build unix

package store

import (
	"os"
	"syscall"

	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// MapFile gives the first size bytes of f, page-aligned and only to be read,
// without reading them. They stay when f is closed, until unmap.
func MapFile(f *os.File, size int) (raw []byte, end func([]byte) error, err error) {
	raw, err = syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	return raw, unmap, err
}

// mapScratch gives the first size bytes of f, to be written to.
func mapScratch(f *os.File, size int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}

// unmap is the opposite of MapFile, unless a lost device may still read the file in place.
func unmap(raw []byte) error {
	if memory.Held() {
		return nil
	}
	return syscall.Munmap(raw)
}
