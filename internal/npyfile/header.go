// Package npyfile reads and writes NumPy's .npy format: headers, and numbers in
// every form in which NumPy stores them.
package npyfile

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// Magic begins every .npy file.
const Magic = "\x93NUMPY"

// Header returns the header of an array in C order, padded to 64 bytes; dtype is for example "<f4".
// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
func Header(dtype string, shape ...int) []byte {
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", dtype, Tuple(shape))
	const before = len(Magic) + 4 // version and length
	size := (before + len(text) + 1 + 63) / 64 * 64
	h := append([]byte(Magic), 1, 0)
	h = binary.LittleEndian.AppendUint16(h, uint16(size-before))
	h = append(h, text...)
	for len(h) < size-1 {
		h = append(h, ' ')
	}
	return append(h, '\n')
}

// Tuple writes sizes as Python does: (3, 5), (7,), ().
func Tuple(shape []int) string {
	sizes := strings.ReplaceAll(strings.Trim(fmt.Sprint(shape), "[]"), " ", ", ")
	if len(shape) == 1 { // the comma makes it a tuple
		sizes += ","
	}
	return "(" + sizes + ")"
}
