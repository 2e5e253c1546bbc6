// Package npyfile writes headers of NumPy's .npy format.
package npyfile

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// Magic begins every .npy file.
const Magic = "\x93NUMPY"

// Header returns what stands before the elements of an array in C order, padded
// so that they begin at a multiple of 64 bytes, as NumPy does. dtype is NumPy's
// name of an element's type, such as "<f4"; no size means a single element.
// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
func Header(dtype string, shape ...int) []byte {
	var sizes strings.Builder
	for k, size := range shape {
		if k > 0 {
			sizes.WriteByte(' ')
		}
		sizes.WriteString(strconv.Itoa(size) + ",")
	}
	tuple := sizes.String()
	if len(shape) > 1 { // one size keeps its comma, which makes it a tuple in Python
		tuple = strings.TrimSuffix(tuple, ",")
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", dtype, tuple)
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
