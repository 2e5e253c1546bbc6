package file

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

func isNPY(head []byte) bool { return bytes.HasPrefix(head, []byte(npyfile.Magic)) }

// npyHeader is what an .npy file says before its data.
type npyHeader struct {
	numberType
	fortran bool // the first index runs fastest
	shape   []int
}

// enterArray returns a reader of a matrix of examples × features behind a header.
func enterArray(header func(io.Reader) (npyHeader, error)) func(*builder) error {
	return func(b *builder) error {
		if b.inline() {
			return fmt.Errorf("%s: an .npy or IDX file has no labels, wanted a second file with them (or "+
				"to read without)", b.src.path)
		}
		h, err := header(b.src)
		if err != nil {
			return wrapPath(b.src, err)
		}
		return b.readNPYMatrix(b.src, h)
	}
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
	n, d, err := exampleShape(h.shape, b.o.Features)
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

// idxTypes are the element types of IDX files, all big-endian.
var idxTypes = map[byte]numberType{
	0x08: {npyfile.Type{Kind: 'u', Size: 1}},
	0x09: {npyfile.Type{Kind: 'i', Size: 1}},
	0x0b: {npyfile.Type{Kind: 'i', Size: 2, Big: true}},
	0x0c: {npyfile.Type{Kind: 'i', Size: 4, Big: true}},
	0x0d: {npyfile.Type{Kind: 'f', Size: 4, Big: true}},
	0x0e: {npyfile.Type{Kind: 'f', Size: 8, Big: true}},
}

// isIDX recognises two zeros, a type, and one to eight dimensions.
func isIDX(head []byte) bool {
	return len(head) >= 8 && head[0] == 0 && head[1] == 0 && idxTypes[head[2]].Size > 0 &&
		head[3] >= 1 && head[3] <= 8
}

// readIDXHeader reads up to the first element of an IDX file (MNIST and others), whose first
// dimension counts examples.
func readIDXHeader(r io.Reader) (h npyHeader, err error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return h, idxCut(err)
	}
	h.numberType = idxTypes[head[2]]
	if head[0] != 0 || head[1] != 0 || h.Size == 0 || head[3] == 0 {
		return h, fmt.Errorf("found the bytes % x, wanted the beginning of an IDX file: 00 00, a "+
			"type, the number of dimensions", head)
	}
	sizes := make([]byte, 4*int(head[3]))
	if _, err := io.ReadFull(r, sizes); err != nil {
		return h, idxCut(err)
	}
	total := 1
	for ; len(sizes) > 0; sizes = sizes[4:] {
		size := int(binary.BigEndian.Uint32(sizes))
		if size > 0 && total > math.MaxInt/16/size {
			return h, fmt.Errorf("found more elements than the address space holds in an IDX header")
		}
		h.shape, total = append(h.shape, size), total*max(size, 1)
	}
	return h, nil
}

func idxCut(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("found the end of the file within the IDX header; the file is cut short, " +
			"fetch it again")
	}
	return err
}

// numberType is how an .npy or IDX array stores an element.
type numberType struct{ npyfile.Type }

// decoder returns what makes elements float32; nil for texts and the unknown.
func (t numberType) decoder() func(dst []float32, raw []byte) {
	return npyfile.Decoder(t.Type, decimal.Narrow)
}

// appendLabel appends an element as a class name; it returns what is wrong with it.
func (t numberType) appendLabel(text, b []byte) ([]byte, string) {
	switch {
	case t.IsInteger():
		v, ok := t.Integer(b)
		if !ok {
			return strconv.AppendUint(text, t.Order().Uint64(b), 10), ""
		}
		return strconv.AppendInt(text, v, 10), ""
	case t.Kind == 'f' && t.decoder() != nil:
		v := float64(math.Float32frombits(t.Order().Uint32(b[:4])))
		if t.Size == 8 {
			v = math.Float64frombits(t.Order().Uint64(b))
		}
		return appendWhole(text, v)
	case t.Kind == 'U':
		for len(b) >= 4 && t.Order().Uint32(b[len(b)-4:]) == 0 {
			b = b[:len(b)-4]
		}
		for ; len(b) >= 4; b = b[4:] {
			c := t.Order().Uint32(b)
			if c > utf8.MaxRune || !utf8.ValidRune(rune(c)) {
				return text, fmt.Sprintf("found %#x in a text of UTF-32, wanted a character of Unicode; the "+
					"file is damaged, or of the other byte order", c)
			}
			text = utf8.AppendRune(text, rune(c))
		}
		return text, ""
	}
	for len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	return append(text, b...), ""
}

// appendWhole appends a whole number that is a class; it returns what is wrong with v.
func appendWhole(text []byte, v float64) ([]byte, string) {
	if v != v {
		return text, noNumber
	}
	if v != math.Trunc(v) || math.Abs(v) > 1<<53 {
		return text, "found " + strconv.FormatFloat(v, 'g', -1, 64) +
			", wanted a class: a whole number or a text"
	}
	return strconv.AppendInt(text, int64(v), 10), ""
}

// noNumber is what is wrong with the label NaN, where examples have labels.
const noNumber = "found NaN, wanted a class: a whole number or a text"

// isLabel reports whether appendLabel understands the type.
func (t numberType) isLabel() bool {
	return t.IsInteger() || t.Kind == 'U' || t.Kind == 'S' || (t.Kind == 'f' && t.decoder() != nil)
}
