package confusion

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

const npyMagic = npyfile.Magic

// parseNPY reads a Q×Q array of probabilities in numpy's format.
func parseNPY(path string, data []byte, q int) ([]float64, error) {
	table, _, err := arrayNPY(path, data, q)
	if err != nil {
		return nil, err
	}
	for i, v := range table {
		if !isProbability(v) {
			return nil, fmt.Errorf("%s: found %v in row %d, column %d (counted from 0), wanted a number "+
				"from 0 to 1", path, v, i/q, i%q)
		}
	}
	return table, nil
}

// arrayNPY reads a q×q array in numpy's format, of any square shape if q is 0; it returns q.
func arrayNPY(path string, data []byte, q int) ([]float64, int, error) {
	rest := bytes.NewReader(data)
	a, err := npyfile.ReadHeader(rest)
	if fault := headerFault(data, a, err); fault != "" {
		return nil, 0, fmt.Errorf("%s: found %s", path, fault)
	}
	if q == 0 {
		if len(a.Shape) != 2 || a.Shape[0] != a.Shape[1] || a.Shape[0] < 2 {
			return nil, 0, fmt.Errorf("%s: found an array of shape %v, wanted one row and column per class",
				path, a.Shape)
		}
		if q = a.Shape[0]; q > rest.Len() { // more than there are bytes
			return nil, 0, fmt.Errorf("%s: found an array of shape %v in %d bytes; the file is cut short",
				path, a.Shape, len(data))
		}
	}
	if len(a.Shape) != 2 || a.Shape[0] != q || a.Shape[1] != q {
		return nil, 0, fmt.Errorf("%s: found an array of shape %v, wanted [%d %d], one row and column "+
			"per class of the data", path, a.Shape, q, q)
	}
	decode := npyfile.Decoder(a.Type, func(v float64) float64 { return v })
	if err != nil || decode == nil || a.Type.Kind == 'b' {
		return nil, 0, fmt.Errorf("%s: found elements of type %.20q, wanted float32, float64 or "+
			"integers; convert with astype", path, a.Descr)
	}
	if want := q * q * a.Type.Size; rest.Len() != want {
		return nil, 0, fmt.Errorf("%s: found %d bytes after the .npy header, wanted %d for %d×%d "+
			"elements of type %s", path, rest.Len(), want, q, q, a.Descr)
	}
	table := make([]float64, q*q)
	decode(table, data[a.Size:])
	if a.Fortran {
		for i := range q {
			for j := range i {
				table[i*q+j], table[j*q+i] = table[j*q+i], table[i*q+j]
			}
		}
	}
	return table, q, nil
}

// headerFault says what is wrong with the header of data, of which a was read until
// err; "" if it is whole and another than of shape and type. numpy.save writes the
// keys in the order of the alphabet and ends with a newline: a header without is
// damaged, or somebody else's.
func headerFault(data []byte, a npyfile.Array, err error) string {
	kind := npyfile.KindOf(err)
	switch {
	case len(data) < len(npyfile.Magic)+2:
		return fmt.Sprintf("%d bytes of a .npy header, wanted more; the file is cut short", len(data))
	case a.Major == 3 || kind == npyfile.Version:
		return fmt.Sprintf(".npy format version %d, wanted 1 or 2, which numpy.save writes for numbers",
			a.Major)
	case kind == npyfile.Cut || a.Size > len(data):
		return fmt.Sprintf("%d bytes, wanted more for the .npy header alone; the file is cut short",
			len(data))
	case kind == npyfile.Long:
		return fmt.Sprintf("an .npy header of %d bytes, wanted at most %d", a.Size, npyfile.MaxHeader)
	}
	descr, order := strings.Index(a.Text, "descr"), strings.Index(a.Text, "fortran_order")
	shape := strings.Index(a.Text, "shape")
	switch {
	case !strings.HasSuffix(a.Text, "\n") || descr > order || order > shape:
		return "a damaged .npy header, wanted one that numpy.save writes"
	case kind == npyfile.Dictionary:
		return "a .npy header that cannot be read, wanted one that numpy.save writes: npy: invalid " +
			"dictionary format"
	case kind == npyfile.Order:
		_, value, _ := strings.Cut(a.Text[order:shape], ":")
		value, _, _ = strings.Cut(value, ",")
		return fmt.Sprintf("a .npy header that cannot be read, wanted one that numpy.save writes: npy: "+
			"invalid 'fortran_order' value (%s)", strings.TrimSpace(value))
	}
	return ""
}
