//go:build !linux

package simd

import (
	"slices"
	"testing"
)

// guarded is a copy here; on Linux it lies between forbidden pages.
func guarded[T int8 | int32 | int64 | uint16 | float32](t *testing.T, v []T, atEnd bool) []T {
	return slices.Clone(v)
}
