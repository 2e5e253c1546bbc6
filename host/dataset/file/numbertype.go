package file

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// numberType is how an array in a binary file stores one element: of .npy, or of IDX,
// which has some of the same types.
type numberType struct{ npyfile.Type }

// decoder returns the function that makes elements float32; nil for texts and what
// is not known.
func (t numberType) decoder() func(dst []float32, raw []byte) {
	return npyfile.Decoder(t.Type, decimal.Narrow)
}

// appendLabel appends the text of one element as a class name; it returns what is
// wrong with the element, "" if nothing is.
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

// appendWhole appends a whole number that is a class; it returns what is wrong
// with v, "" if nothing is.
func appendWhole(text []byte, v float64) ([]byte, string) {
	if v != math.Trunc(v) || math.Abs(v) > 1<<53 {
		return text, "found " + strconv.FormatFloat(v, 'g', -1, 64) +
			", wanted a class: a whole number or a text"
	}
	return strconv.AppendInt(text, int64(v), 10), ""
}

// isLabel reports whether appendLabel understands the type.
func (t numberType) isLabel() bool {
	return t.IsInteger() || t.Kind == 'U' || t.Kind == 'S' || (t.Kind == 'f' && t.decoder() != nil)
}
