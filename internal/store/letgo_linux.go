package store

import "syscall"

// dropPages gives back whole pages of a mapped file. Where that fails, they stay, and nothing is
// lost.
func dropPages(raw []byte) { syscall.Madvise(raw, syscall.MADV_DONTNEED) }
