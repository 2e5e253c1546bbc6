//go:build unix

package store

import (
	"os"
	"syscall"

	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// MapFile maps the first size bytes of f, page-aligned, to be read until unmap.
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

// CanReserve says whether memory can have addresses and nothing behind them.
const CanReserve = true

// Reserve returns size bytes of zero; the pages of from..to-1 can be used.
func Reserve(size, from, to int) ([]byte, error) {
	raw, err := syscall.Mmap(-1, 0, size, syscall.PROT_NONE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil || from == to {
		return raw, err
	}
	page := os.Getpagesize()
	return raw, syscall.Mprotect(raw[from/page*page:min(size, (to+page-1)/page*page)],
		syscall.PROT_READ|syscall.PROT_WRITE)
}

// GiveBack ends the use of what Reserve has returned.
func GiveBack(all [][]byte) {
	for _, raw := range all {
		Forget(raw)
		unmap(raw) // which can fail for no reason that matters here
	}
}

// Hide makes bytes of a mapped file outside of from..to-1 a fault, by whole pages.
func Hide(raw []byte, from, to int) error {
	page := os.Getpagesize()
	if Address(raw)%uintptr(page) != 0 { // larger pages than those of the file
		return nil
	}
	for _, part := range [][2]int{{0, from}, {to, len(raw)}} {
		first, last := (part[0]+page-1)/page*page, part[1]/page*page
		if first < last {
			if err := syscall.Mprotect(raw[first:last], syscall.PROT_NONE); err != nil {
				return err
			}
		}
	}
	return nil
}
