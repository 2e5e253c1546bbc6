package file

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

func isNPY(head []byte) bool { return bytes.HasPrefix(head, []byte(npyfile.Magic)) }

// npyHeader is what an .npy file says before its data.
type npyHeader struct {
	numberType
	fortran bool // the first index runs fastest
	shape   []int
}

// enterNPY reads a matrix of examples × features. The labels come from a second
// file.
func enterNPY(b *builder) error {
	s := b.src
	if err := refuseColumns(s, b.o); err != nil {
		return err
	}
	if b.inline() {
		return fmt.Errorf("%s: an .npy file has no labels, wanted a second file with them (or to read "+
			"without)", s.path)
	}
	h, err := readNPYHeader(s)
	if err != nil {
		return wrapPath(s, err)
	}
	return b.readNPYMatrix(s, h)
}

// refuseColumns refuses options that only tables know.
func refuseColumns(s *source, o Options) error {
	if o.Ignore != nil {
		return fmt.Errorf("%s: asked to leave columns out, which is possible only in tables (CSV, "+
			"ARFF, Parquet)", s.path)
	}
	return nil
}

// wrapPath puts the path before an error, unless reading failed and it is there.
func wrapPath(s *source, err error) error {
	if strings.HasPrefix(err.Error(), s.path+":") {
		return err
	}
	return s.errorf("%w", err)
}

// readNPYMatrix enters the examples of an array whose header was read.
func (b *builder) readNPYMatrix(r io.Reader, h npyHeader) error {
	n, d, err := exampleShape(h.shape)
	if err == nil && h.decoder() == nil {
		err = fmt.Errorf("found elements of type %s, wanted float32, float64 or integers", h.numberType)
	}
	if err == nil && h.fortran && len(h.shape) > 2 {
		err = fmt.Errorf("found an array of %d dimensions in Fortran order, wanted two, or C order",
			len(h.shape))
	}
	switch {
	case err != nil:
		return b.src.errorf("%w", err)
	case h.fortran && d > 1:
		return b.readColumns(r, h.numberType, n, d)
	}
	return b.readRows(r, h.numberType, n, d)
}

// readNPYHeader reads up to the first element. Its errors do not name the file.
func readNPYHeader(r io.Reader) (npyHeader, error) {
	a, err := npyfile.ReadHeader(r)
	return npyHeader{numberType{a.Type}, a.Fortran, a.Shape}, err
}
