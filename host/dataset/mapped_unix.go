//go:build unix

package dataset

import (
	"os"
	"syscall"
)

// mapFile gives the first size bytes of f, page-aligned and only to be read,
// without reading them. They stay when f is closed, until unmap.
func mapFile(f *os.File, size int) (raw []byte, unmap func([]byte) error, err error) {
	raw, err = syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	return raw, syscall.Munmap, err
}
