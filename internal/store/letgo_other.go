//go:build !linux

package store

// dropPages leaves it to the system, which may take them when it needs memory.
func dropPages([]byte) {}
