// Package store keeps examples: in memory, in mapped files, in files without a name, and as the
// small integers that they were prepared from. Beside the float32 numbers that everybody reads, a
// Store says what engines and readers ask.
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

// Store is what is known of how examples are kept. A nil Store is that of plain examples.
type Store struct {
	Codes *Codes // what the values were prepared from; nil if that is no small integers
}

// Narrow returns the codes of s, nil if it has none.
func (s *Store) Narrow() *Codes {
	if s == nil {
		return nil
	}
	return s.Codes
}

// Rows returns the store of examples from..to-1 of d columns.
func (s *Store) Rows(from, to, d int) *Store {
	if s.Narrow() == nil {
		return nil
	}
	return &Store{Codes: s.Codes.rows(from, to, d)}
}
