package dataset

import (
	"encoding/binary"
	"math"
	"strconv"
	"unicode/utf8"
)

// numberType is how an array in a binary file stores one element.
type numberType struct {
	kind byte // 'f' float, 'i' and 'u' integer, 'b' truth; 'U' UTF-32 and 'S' byte texts
	size int  // bytes of one element
	big  bool // big-endian
}

// Bits of NaN that stand for what float32 cannot hold, between a decoder and the
// message about it.
const (
	overflowBits = 0x7fc00f10
	missingBits  = 0x7fc00e55
)

// narrow returns the nearest float32, or the mark of overflow.
func narrow(v float64) float32 {
	f := float32(v)
	if math.IsInf(float64(f), 0) && !math.IsInf(v, 0) {
		return math.Float32frombits(overflowBits)
	}
	return f
}

// cellFault says what is wrong with a value that is not finite.
func cellFault(v float32) string {
	switch {
	case math.Float32bits(v) == overflowBits:
		return "found a number beyond the range of float32 (±3.4e38); rescale the column"
	case math.Float32bits(v) == missingBits:
		return "found a missing value (null), wanted a number; fill in or remove examples with missing values"
	}
	return "found " + strconv.FormatFloat(float64(v), 'g', -1, 32) + ", wanted a finite number; replace it or remove the example"
}

// order returns the byte order.
func (t numberType) order() binary.ByteOrder {
	if t.big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// decoder returns the function that makes one element a float32; nil for texts
// and what is not known.
func (t numberType) decoder() func([]byte) float32 {
	o := t.order()
	switch string(t.kind) + strconv.Itoa(t.size) {
	case "b1":
		return func(b []byte) float32 {
			if b[0] != 0 {
				return 1
			}
			return 0
		}
	case "u1":
		return func(b []byte) float32 { return float32(b[0]) }
	case "i1":
		return func(b []byte) float32 { return float32(int8(b[0])) }
	case "u2":
		return func(b []byte) float32 { return float32(o.Uint16(b)) }
	case "i2":
		return func(b []byte) float32 { return float32(int16(o.Uint16(b))) }
	case "u4":
		return func(b []byte) float32 { return float32(o.Uint32(b)) }
	case "i4":
		return func(b []byte) float32 { return float32(int32(o.Uint32(b))) }
	case "u8":
		return func(b []byte) float32 { return float32(o.Uint64(b)) }
	case "i8":
		return func(b []byte) float32 { return float32(int64(o.Uint64(b))) }
	case "f4":
		if !t.big {
			return func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }
		}
		return func(b []byte) float32 { return math.Float32frombits(o.Uint32(b)) }
	case "f8":
		if !t.big {
			return func(b []byte) float32 { return narrow(math.Float64frombits(binary.LittleEndian.Uint64(b))) }
		}
		return func(b []byte) float32 { return narrow(math.Float64frombits(o.Uint64(b))) }
	}
	return nil
}

// integer returns an element of an integer array as int64; false if it does not
// fit.
func (t numberType) integer(b []byte) (int64, bool) {
	o := t.order()
	var u uint64
	switch t.size {
	case 1:
		u = uint64(b[0])
	case 2:
		u = uint64(o.Uint16(b))
	case 4:
		u = uint64(o.Uint32(b))
	case 8:
		u = o.Uint64(b)
	}
	if t.kind == 'i' {
		shift := 64 - 8*t.size
		return int64(u<<shift) >> shift, true
	}
	return int64(u), u <= math.MaxInt64
}

// isInteger reports whether integer may be called.
func (t numberType) isInteger() bool {
	return (t.kind == 'i' || t.kind == 'u' || (t.kind == 'b' && t.size == 1)) && (t.size == 1 || t.size == 2 || t.size == 4 || t.size == 8)
}

// appendLabel appends the text of one element as a class name; it returns what is
// wrong with the element, "" if nothing is.
func (t numberType) appendLabel(text, b []byte) ([]byte, string) {
	switch {
	case t.isInteger():
		v, ok := t.integer(b)
		if !ok {
			return strconv.AppendUint(text, t.order().Uint64(b), 10), ""
		}
		return strconv.AppendInt(text, v, 10), ""
	case t.kind == 'f' && t.decoder() != nil:
		v := float64(math.Float32frombits(t.order().Uint32(b[:4])))
		if t.size == 8 {
			v = math.Float64frombits(t.order().Uint64(b))
		}
		return appendWhole(text, v)
	case t.kind == 'U':
		for len(b) >= 4 && t.order().Uint32(b[len(b)-4:]) == 0 {
			b = b[:len(b)-4]
		}
		for ; len(b) >= 4; b = b[4:] {
			text = utf8.AppendRune(text, rune(min(t.order().Uint32(b), utf8.MaxRune+1)))
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
		return text, "found " + strconv.FormatFloat(v, 'g', -1, 64) + ", wanted a class: a whole number or a text"
	}
	return strconv.AppendInt(text, int64(v), 10), ""
}

// isLabel reports whether appendLabel understands the type.
func (t numberType) isLabel() bool {
	return t.isInteger() || t.kind == 'U' || t.kind == 'S' || (t.kind == 'f' && t.decoder() != nil)
}
