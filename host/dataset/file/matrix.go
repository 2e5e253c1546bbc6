package file

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

func isNPY(head []byte) bool { return strings.HasPrefix(string(head), npyfile.Magic) }

// idxTypes are the element types of IDX files, all big-endian.
var idxTypes = map[byte]npyfile.Type{
	0x08: {Kind: 'u', Size: 1},
	0x09: {Kind: 'i', Size: 1},
	0x0b: {Kind: 'i', Size: 2, Big: true},
	0x0c: {Kind: 'i', Size: 4, Big: true},
	0x0d: {Kind: 'f', Size: 4, Big: true},
	0x0e: {Kind: 'f', Size: 8, Big: true},
}

// isIDX recognises two zeros, a type, and one to eight dimensions.
func isIDX(head []byte) bool {
	return len(head) >= 8 && head[0] == 0 && head[1] == 0 && idxTypes[head[2]].Size > 0 &&
		head[3] >= 1 && head[3] <= 8
}

// readIDXHeader reads up to the first element of an IDX file (MNIST and others), whose first
// dimension counts examples.
func readIDXHeader(r io.Reader) (h npyfile.Array, err error) {
	cut := func(err error) error {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return fmt.Errorf("found the end of the file within the IDX header; the file is cut short, " +
				"fetch it again")
		}
		return err
	}
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return h, cut(err)
	}
	h.Type = idxTypes[head[2]]
	if head[0] != 0 || head[1] != 0 || h.Type.Size == 0 || head[3] == 0 {
		return h, fmt.Errorf("found the bytes % x, wanted the beginning of an IDX file: 00 00, a type, "+
			"the number of dimensions", head)
	}
	sizes := make([]byte, 4*int(head[3]))
	if _, err := io.ReadFull(r, sizes); err != nil {
		return h, cut(err)
	}
	total := 1
	for ; len(sizes) > 0; sizes = sizes[4:] {
		size := int(binary.BigEndian.Uint32(sizes))
		if size > 0 && total > math.MaxInt/16/size {
			return h, fmt.Errorf("found more elements than the address space holds in an IDX header")
		}
		h.Shape, total = append(h.Shape, size), total*max(size, 1)
	}
	return h, nil
}

// enterArray returns a reader of a matrix of examples × features behind a header.
func enterArray(header func(io.Reader) (npyfile.Array, error)) func(*collector) error {
	return func(c *collector) error {
		s := c.src
		if err := c.begin(); err != nil {
			return err
		}
		if c.inline() {
			return fmt.Errorf("%s: an .npy or IDX file has no labels, wanted a second file with them (or "+
				"to read without)", s.path)
		}
		h, err := header(s)
		if err != nil {
			return s.placed(err)
		}
		return enterMatrix(c, s, h)
	}
}

// enterMatrix enters the examples of an array whose header was read from r.
func enterMatrix(c *collector, r io.Reader, h npyfile.Array) error {
	n, d, err := exampleShape(h.Shape, c.o.Features)
	switch {
	case err != nil:
	case npyfile.Decoder(h.Type) == nil:
		err = fmt.Errorf("found elements of type %s, wanted float32, float64 or integers", h.Type)
	case h.Fortran && len(h.Shape) > 2:
		err = fmt.Errorf("found an array of %d dimensions in Fortran order, wanted two, or C order",
			len(h.Shape))
	}
	if err != nil {
		return c.src.errorf("%w", err)
	}
	cells := mayBeCells(c, d)
	if err := c.checkShape(n, d, false); err != nil {
		return err
	}
	if err := checkRow(d); err != nil {
		return c.src.errorf("%w", err)
	}
	beginArray(c, d, cells)
	if h.Fortran && d > 1 {
		return enterColumns(c, r, h.Type, n, d)
	}
	if p, ok := placeOf(c, r, h.Type, n, d); ok {
		if mapped, err := mapRows(c, p, n, d); mapped || err != nil {
			return err
		}
	}
	return enterRows(c, r, h.Type, n, d)
}

// exampleShape returns the first size and the product of the others. One size is of a column, if
// one feature is wanted.
func exampleShape(shape []int, wanted int) (n, d int, err error) {
	if len(shape) == 1 && wanted == 1 {
		return shape[0], 1, nil
	}
	if len(shape) < 2 {
		return 0, 0, fmt.Errorf("found an array of %d dimensions, wanted a matrix of examples × "+
			"features (is it the file of the labels?)", len(shape))
	}
	d = 1
	for _, size := range shape[1:] {
		if size > 0 && d > math.MaxInt32/size {
			return 0, 0, fmt.Errorf("found an array of shape %v, wanted at most %d features", shape,
				math.MaxInt32)
		}
		d *= size
	}
	return shape[0], d, nil
}

// checkShape checks a matrix of n examples and d features that a header promises; fewer says that
// features may lack.
func (c *collector) checkShape(n, d int, fewer bool) error {
	wanted := c.o.Features
	switch {
	case n < 0 || d < 0 || n > c.src.limits.rows || d > c.src.limits.columns:
		return c.src.errorf("found a matrix of %d×%d, wanted at most %d examples and %d features", n, d,
			c.src.limits.rows, c.src.limits.columns)
	case n == 0:
		return emptyFault(c.src, "")
	case d == 0:
		return c.src.errorf("found %d examples without any feature, wanted at least one", n)
	case wanted > 0 && (d > wanted || d < wanted && !fewer):
		return c.src.errorf("found %d features, wanted %d, the width of the model", d, wanted)
	}
	return nil
}

// checkRow refuses rows of d features that do not fit in memory as float64, as float32, and with
// what is known of each column.
func checkRow(d int) error {
	return memory.Check(memory.Product(d, 64), fmt.Sprintf("a dense row of %d features", d))
}

// enterRows enters n examples of d elements of type t from r, example by example.
func enterRows(c *collector, r io.Reader, t npyfile.Type, n, d int) error {
	row := &c.numbers.row
	return readElements(c, r, t, n, d, func(part []float64) error {
		for len(part) > 0 {
			k := min(d-len(*row), len(part))
			*row, part = append(*row, part[:k]...), part[k:]
			if len(*row) < d {
				break
			}
			if err := c.addCells(); err != nil {
				return err
			}
			*row = (*row)[:0]
		}
		return nil
	})
}

// addCells enters a row of an array.
func (c *collector) addCells() error {
	return c.addRow(nil, func(j int, v float64) error {
		if v != v && c.o.lenient() && c.cells == nil {
			return c.known.withGaps()
		}
		return c.src.errorf("example %d, column %d: %s", c.number(), j+1, valueFault(v))
	})
}

// partLength is how many elements are read at a time.
const partLength = 1 << 14

// readElements reads n·d elements, partLength at a time, which take may change.
func readElements(c *collector, r io.Reader, t npyfile.Type, n, d int,
	take func([]float64) error) error {
	decode := npyfile.Decoder(t)
	wide := t.Size == 8 && t.Kind != 'f'
	raw, part := make([]byte, partLength*t.Size), make([]float64, partLength)
	for left, total := int64(n)*int64(d), int64(n)*int64(d); left > 0; {
		k := int(min(left, partLength))
		if _, err := io.ReadFull(r, raw[:k*t.Size]); err != nil {
			if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) && c.src.packed == "" {
				err = c.src.errorf("found the data of only %d examples, wanted %d as the header says; the "+
					"file is cut short, fetch it again", (total-left)/int64(d), n)
			}
			return err
		}
		decode(part[:k], raw)
		for i, v := range part[:k] {
			if wide && math.Abs(v) >= 1<<53 && rounds(sizeOf(t.Order().Uint64(raw[i*t.Size:]),
				t.Kind == 'i')) {
				c.remarks.note("there are whole numbers beyond 2^53, which are rounded, one of them to "+
					"%.0f", v)
				wide = false
			}
		}
		left -= int64(k)
		if err := take(part[:k]); err != nil {
			return err
		}
	}
	if err := atEnd(r, c.src.errorf); err != nil {
		return err
	}
	return nil
}

// atEnd returns an error if r has more bytes, or its own: check sums are compared there.
func atEnd(r io.Reader, errorf func(string, ...any) error) error {
	var more [1]byte
	switch n, err := io.ReadFull(r, more[:]); {
	case n > 0:
		return errorf("found more bytes behind the data that the header promises, wanted the end of " +
			"the file")
	case err != io.EOF:
		return err
	}
	return nil
}

// enterColumns is enterRows of elements in Fortran's order, which must all be there first.
func enterColumns(c *collector, r io.Reader, t npyfile.Type, n, d int) error {
	var parts [][]float32 // in parts, since a list that grows takes twice its memory
	var spans []features.Span
	var growth memory.Growth
	at := 0
	err := readElements(c, r, t, n, d, func(part []float64) error {
		rounded := make([]float32, len(part))
		for k, v := range part {
			j := at / n
			if j == len(spans) {
				spans = append(spans, features.SpanOf(d))
			}
			spans[j].Add(v)
			rounded[k] = float32(v - originOf(c, j))
			at++
		}
		parts = append(parts, rounded)
		growth.Bytes += 4 * len(part)
		return growth.Check(1<<24, "a list of more than %d numbers in Fortran order", at)
	})
	if err == nil {
		err = memory.Check(memory.Product(n, d, 4), fmt.Sprintf("a matrix of %d×%d", n, d))
	}
	if err != nil {
		return c.src.placed(err)
	}
	alreadyRounded(c, spans)
	if c.cells == nil {
		c.pile.x = make([]float32, 0, n*d)
	}
	const tile = 16 // rows, for the cache
	rows := make([]float64, tile*d)
	for first := 0; first < n && err == nil; first += tile {
		last := min(first+tile, n)
		for j := range d {
			for i := first; i < last; i++ {
				at := j*n + i
				rows[(i-first)*d+j] = float64(parts[at/partLength][at%partLength])
			}
		}
		for i := first; i < last && err == nil; i++ {
			c.numbers.row = append(c.numbers.row[:0], rows[(i-first)*d:][:d]...)
			err = c.addCells()
		}
	}
	return err
}

// isLabel reports whether appendLabel understands the type.
func isLabel(t npyfile.Type) bool {
	return t.IsInteger() || t.Kind == 'U' || t.Kind == 'S' ||
		t.Kind == 'f' && npyfile.Decoder(t) != nil
}

// appendLabel appends an element as a class name; NaN is an empty one.
func appendLabel(t npyfile.Type, text, b []byte) ([]byte, error) {
	switch {
	case t.IsInteger():
		v, ok := t.Integer(b)
		if !ok {
			return strconv.AppendUint(text, t.Order().Uint64(b), 10), nil
		}
		return strconv.AppendInt(text, v, 10), nil
	case t.Kind == 'f' && npyfile.Decoder(t) != nil:
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
				return text, fmt.Errorf("found %#x in a text of UTF-32, wanted a character of Unicode; the "+
					"file is damaged, or of the other byte order", c)
			}
			text = utf8.AppendRune(text, rune(c))
		}
		return text, nil
	}
	return append(text, bytes.TrimRight(b, "\x00")...), nil
}

// appendWhole appends a whole number that is a class, nothing for NaN.
func appendWhole(text []byte, v float64) ([]byte, error) {
	if v != v {
		return text, nil
	}
	if v != math.Trunc(v) || math.Abs(v) > 1<<53 {
		return text, fmt.Errorf("found %s, wanted a class: a whole number or a text",
			strconv.FormatFloat(v, 'g', -1, 64))
	}
	return strconv.AppendInt(text, int64(v), 10), nil
}
