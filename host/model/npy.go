package model

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// readNpyHeader reads the header of an array of dtype with two dimensions, in C
// order, and returns its shape, having compared it with size, the bytes of the
// whole member. So whoever allocates rows·cols elements needs no more memory than
// the file has bytes. numpy says how to convert an array of another kind.
func readNpyHeader(r io.Reader, size uint64, dtype string, width int) (rows, cols int, err error) {
	a, err := npyfile.ReadHeader(r)
	switch kind := npyfile.KindOf(err); {
	case err != nil && kind == npyfile.None:
		return 0, 0, err
	case kind == npyfile.NotNPY || (kind == npyfile.Cut && a.Size == 0):
		return 0, 0, errors.New("found no .npy header, wanted an array that numpy.save writes")
	case a.Major != 1 || a.Minor != 0:
		return 0, 0, fmt.Errorf("found .npy version %d.%d, wanted 1.0", a.Major, a.Minor)
	case kind == npyfile.Cut:
		return 0, 0, fmt.Errorf("found %d bytes, wanted an .npy header of %d and data after it: the "+
			"file is cut short", size, a.Size)
	case kind == npyfile.Element || (err == nil && a.Descr != dtype):
		return 0, 0, fmt.Errorf("found elements of type %.100q, wanted %q: convert the array with "+
			".astype(%q)", a.Descr, dtype, dtype)
	case err != nil:
		return 0, 0, err
	case a.Fortran:
		return 0, 0, fmt.Errorf("found Fortran order, wanted C order: convert the array with " +
			"numpy.ascontiguousarray")
	case len(a.Shape) != 2 || a.Shape[0] < 1 || a.Shape[1] < 1:
		return 0, 0, fmt.Errorf("found shape %s, wanted two positive dimensions", npyfile.Tuple(a.Shape))
	}
	rows, cols = a.Shape[0], a.Shape[1]
	data := size - uint64(a.Size)
	if data%uint64(width) != 0 || data/uint64(width) > math.MaxInt ||
		!isProduct(int(data/uint64(width)), rows, cols) {
		return 0, 0, fmt.Errorf("found %d bytes of data, wanted %d×%d of %d bytes each, as the .npy "+
			"header says", data, rows, cols, width)
	}
	return rows, cols, nil
}

// number is an element of the arrays here.
type number interface{ npyfile.Number }
