package dataset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
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

// readNPY reads a matrix of examples × features. The labels come from a second
// file.
func readNPY(s *source, o Options) (*Dataset, error) {
	if err := refuseColumns(s, o); err != nil {
		return nil, err
	}
	if !o.NoLabels && o.given == nil {
		return nil, fmt.Errorf("%s: an .npy file has no labels, wanted a second file with them (or to read without)", s.path)
	}
	b, err := newBuilder(s, o)
	if err != nil {
		return nil, err
	}
	h, err := readNPYHeader(s)
	if err != nil {
		return nil, wrapPath(s, err)
	}
	if err := b.readNPYMatrix(s, h); err != nil {
		return nil, err
	}
	return b.finish()
}

// refuseColumns refuses options that only tables know.
func refuseColumns(s *source, o Options) error {
	if o.Ignore != nil {
		return fmt.Errorf("%s: asked to leave columns out, which is possible only in tables (CSV, ARFF, Parquet)", s.path)
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
		err = fmt.Errorf("found an array of %d dimensions in Fortran order, wanted two, or C order", len(h.shape))
	}
	switch {
	case err != nil:
		return b.src.errorf("%w", err)
	case h.fortran && d > 1:
		return b.readColumns(r, h.numberType, n, d)
	}
	return b.readRows(r, h.numberType, n, d)
}

// String names the type as numpy does.
func (t numberType) String() string {
	size := t.size
	if t.kind == 'U' {
		size /= 4
	}
	return string(t.kind) + strconv.Itoa(size)
}

var (
	npyDescr   = regexp.MustCompile(`['"]descr['"]\s*:\s*['"]([^'"]*)['"]`)
	npyFortran = regexp.MustCompile(`['"]fortran_order['"]\s*:\s*(True|False)`)
	npyShape   = regexp.MustCompile(`['"]shape['"]\s*:\s*\(([0-9L, ]*)\)`)
)

// readNPYHeader reads up to the first element (format versions 1 to 3). Its
// errors do not name the file.
func readNPYHeader(r io.Reader) (npyHeader, error) {
	var h npyHeader
	fixed := make([]byte, 10)
	if _, err := io.ReadFull(r, fixed); err != nil {
		return h, npyCut(err)
	}
	if !isNPY(fixed) {
		return h, fmt.Errorf("found no NumPy array, wanted a file that begins with \\x93NUMPY")
	}
	length := int(binary.LittleEndian.Uint16(fixed[8:]))
	switch fixed[6] {
	case 1:
	case 2, 3:
		rest := make([]byte, 2)
		if _, err := io.ReadFull(r, rest); err != nil {
			return h, npyCut(err)
		}
		length |= int(binary.LittleEndian.Uint16(rest)) << 16
	default:
		return h, fmt.Errorf("found version %d of the .npy format, wanted 1 to 3", fixed[6])
	}
	if length > 1<<16 {
		return h, fmt.Errorf("found an .npy header of %d bytes, wanted at most %d (a table of named columns? save them as one matrix)", length, 1<<16)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return h, npyCut(err)
	}
	descr, fortran, shape := npyDescr.FindSubmatch(text), npyFortran.FindSubmatch(text), npyShape.FindSubmatch(text)
	if descr == nil || fortran == nil || shape == nil {
		return h, fmt.Errorf("found the .npy header %s, wanted descr, fortran_order and shape of a plain array", quote(string(bytes.TrimSpace(text))))
	}
	h.fortran = string(fortran[1]) == "True"
	total := 1
	for size := range strings.SplitSeq(string(shape[1]), ",") {
		size = strings.TrimSuffix(strings.TrimSpace(size), "L")
		if size == "" {
			continue
		}
		n, err := strconv.Atoi(size)
		if err != nil || (n > 0 && total > math.MaxInt/16/n) {
			return h, fmt.Errorf("found the array shape (%s), which is beyond the address space", shape[1])
		}
		total *= max(n, 1)
		h.shape = append(h.shape, n)
	}
	var err error
	h.numberType, err = npyType(string(descr[1]))
	return h, err
}

func npyCut(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("found the end of the file within the .npy header; the file is cut short, fetch it again")
	}
	return err
}

// npyType reads a type such as <f4, >i8, |b1 or <U5.
func npyType(text string) (numberType, error) {
	var t numberType
	code := strings.TrimLeft(text, "<>|=")
	if code == "" || len(text)-len(code) > 1 {
		return t, fmt.Errorf("found elements of type %s, wanted numbers or texts", quote(text))
	}
	size, err := strconv.Atoi(code[1:])
	if code == "?" {
		code, size, err = "b1", 1, nil
	}
	t = numberType{kind: code[0], size: size, big: text[0] == '>'}
	switch {
	case code[0] == 'O':
		return t, fmt.Errorf("found an array of Python objects, wanted numbers or texts; save it with .astype(str) or as numbers")
	case err != nil || size < 0 || size > 1<<16:
		return t, fmt.Errorf("found elements of type %s, wanted numbers or texts", quote(text))
	case t.kind == 'U':
		t.size *= 4
	case t.kind == 'a':
		t.kind = 'S'
	}
	return t, nil
}
