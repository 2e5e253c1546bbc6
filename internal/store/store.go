// Package store has memory for examples: mapped files, and files without a name.
package store

import (
	"encoding/binary"
	"unsafe"
)

// Element is a number of an array.
type Element interface {
	uint8 | uint16 | int32 | int64 | float32 | float64
}

// View returns the elements of raw, which is aligned to their size, sharing memory.
func View[T Element](raw []byte) []T {
	if len(raw) == 0 {
		return []T{}
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(raw))),
		len(raw)/int(unsafe.Sizeof(*new(T))))
}

// Bytes is the inverse of View.
func Bytes[T Element](list []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(list))),
		len(list)*int(unsafe.Sizeof(*new(T))))
}

// Address returns where raw begins.
func Address(raw []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(raw))) }

// LittleEndian says whether this machine's memory looks like the file.
var LittleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1
