//go:build !linux

package store

import (
	"os"
)

// dropPages leaves it to the system, which may take them when it needs memory.
func dropPages([]byte) {}

// fetch leaves it to the system what it reads and when.
func fetch([]byte, bool) {}

// takeDisk does not know how to ask for room.
func takeDisk(*os.File, int) error { return nil }
