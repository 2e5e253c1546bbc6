package confusion

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"

	"github.com/sbinet/npyio/npy"
)

const npyMagic = "\x93NUMPY"

// parseNPY reads a Q×Q array in numpy's format. The library trusts the sizes
// that a header claims and panics on some damaged ones, so every size is
// compared with the file before the library may allocate by it, and a panic
// becomes an error.
func parseNPY(path string, data []byte, q int) (table []float64, err error) {
	defer func() {
		if r := recover(); r != nil {
			table, err = nil, fmt.Errorf("%s: found a damaged .npy header, wanted one that numpy.save writes", path)
		}
	}()
	if err := checkHeaderLength(data); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	rest := bytes.NewReader(data)
	r, err := npy.NewReader(rest)
	if err != nil {
		return nil, fmt.Errorf("%s: found a .npy header that cannot be read, wanted one that numpy.save writes: %w", path, err)
	}
	descr := r.Header.Descr
	if len(descr.Shape) != 2 || descr.Shape[0] != q || descr.Shape[1] != q {
		return nil, fmt.Errorf("%s: found an array of shape %v, wanted [%d %d], one row and column per class of the data",
			path, descr.Shape, q, q)
	}
	kind := npy.TypeFrom(descr.Type)
	read := readers[kind]
	if read == nil {
		return nil, fmt.Errorf("%s: found elements of type %.20q, wanted float32, float64 or integers; convert with astype", path, descr.Type)
	}
	if want := q * q * int(kind.Size()); rest.Len() != want {
		return nil, fmt.Errorf("%s: found %d bytes after the .npy header, wanted %d for %d×%d elements of type %s",
			path, rest.Len(), want, q, q, descr.Type)
	}
	table, err = read(r, q*q)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot read the array: %w", path, err)
	}
	if descr.Fortran {
		for i := range q {
			for j := range i {
				table[i*q+j], table[j*q+i] = table[j*q+i], table[i*q+j]
			}
		}
	}
	for i, v := range table {
		if !isProbability(v) {
			return nil, fmt.Errorf("%s: found %v in row %d, column %d (counted from 0), wanted a number from 0 to 1",
				path, v, i/q, i%q)
		}
	}
	return table, nil
}

// checkHeaderLength returns an error if the file is too short for the header
// that it announces, or if its format is not version 1 or 2.
func checkHeaderLength(data []byte) error {
	start := len(npyMagic)
	if len(data) < start+2 {
		return fmt.Errorf("found %d bytes of a .npy header, wanted more; the file is cut short", len(data))
	}
	var length uint64
	var from int // where the header's text begins
	switch version := data[start]; {
	case version == 1 && len(data) >= start+4:
		length, from = uint64(binary.LittleEndian.Uint16(data[start+2:])), start+4
	case version == 2 && len(data) >= start+6:
		length, from = uint64(binary.LittleEndian.Uint32(data[start+2:])), start+6
	case version != 1 && version != 2:
		return fmt.Errorf("found .npy format version %d, wanted 1 or 2, which numpy.save writes for numbers", version)
	}
	if from == 0 || length > uint64(len(data)-from) {
		return fmt.Errorf("found %d bytes, wanted more for the .npy header alone; the file is cut short", len(data))
	}
	return nil
}

// readers has a function for every type of element that is accepted.
var readers = map[reflect.Type]func(*npy.Reader, int) ([]float64, error){
	reflect.TypeFor[float32](): read[float32],
	reflect.TypeFor[float64](): read[float64],
	reflect.TypeFor[int8]():    read[int8],
	reflect.TypeFor[int16]():   read[int16],
	reflect.TypeFor[int32]():   read[int32],
	reflect.TypeFor[int64]():   read[int64],
	reflect.TypeFor[uint8]():   read[uint8],
	reflect.TypeFor[uint16]():  read[uint16],
	reflect.TypeFor[uint32]():  read[uint32],
	reflect.TypeFor[uint64]():  read[uint64],
}

// read reads n elements of type T.
func read[T float32 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](r *npy.Reader, n int) ([]float64, error) {
	raw := make([]T, n)
	if err := r.Read(&raw); err != nil {
		return nil, err
	}
	table := make([]float64, n)
	for i, v := range raw {
		table[i] = float64(v)
	}
	return table, nil
}
