package npyfile

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Type is how an array stores one element.
type Type struct {
	// 'f' float, 'i' and 'u' integer, 'b' truth; 'U' UTF-32 and 'S' byte texts; others are not read
	Kind byte
	Size int  // bytes of one element
	Big  bool // big-endian
}

// maxElement is the most characters of a text, or bytes of another element.
const maxElement = 1 << 16

// parseType reads a type such as <f4, >i8, |b1 or <U5.
func parseType(descr string) (Type, error) {
	code := strings.TrimLeft(descr, "<>|=")
	if code == "" || len(descr)-len(code) > 1 {
		return Type{}, fmt.Errorf("found elements of type %.100q, wanted numbers or texts", descr)
	}
	if code[0] == 'O' {
		return Type{}, fmt.Errorf("found an array of Python objects, wanted numbers or texts; save it " +
			"with .astype(str) or as numbers")
	}
	if code == "?" {
		code = "b1"
	}
	size, err := strconv.Atoi(code[1:])
	if err != nil || size < 0 || size > maxElement || code[0]|0x20 < 'a' || code[0]|0x20 > 'z' {
		return Type{}, fmt.Errorf("found elements of type %.100q, wanted numbers or texts", descr)
	}
	t := Type{Kind: code[0], Size: size, Big: descr[0] == '>'}
	switch t.Kind {
	case 'U':
		t.Size *= 4
	case 'a': // the old name
		t.Kind = 'S'
	}
	return t, nil
}

// String names the type as NumPy does, without the byte order.
func (t Type) String() string {
	size := t.Size
	if t.Kind == 'U' {
		size /= 4
	}
	return string(t.Kind) + strconv.Itoa(size)
}

// Order returns the byte order.
func (t Type) Order() binary.ByteOrder {
	if t.Big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// Decoder returns what fills dst with numbers, each rounded once; nil for texts. Truth is 1 or 0.
func Decoder(t Type) func(dst []float64, raw []byte) {
	switch string(t.Kind) + strconv.Itoa(t.Size) {
	case "b1", "u1":
		most := byte(math.MaxUint8)
		if t.Kind == 'b' {
			most = 1
		}
		return func(dst []float64, raw []byte) { // pixels, without a copy
			for i := range dst {
				dst[i] = float64(min(raw[i], most))
			}
		}
	case "i1":
		return each[int8](t)
	case "u2":
		return each[uint16](t)
	case "i2":
		return each[int16](t)
	case "u4":
		return each[uint32](t)
	case "i4":
		return each[int32](t)
	case "u8":
		return each[uint64](t)
	case "i8":
		return each[int64](t)
	case "f4":
		return each[float32](t)
	case "f8":
		return each[float64](t)
	}
	return nil
}

// each returns what decodes elements of E and converts them.
func each[E int8 | uint16 | int16 | uint32 | uint64 | Number](t Type,
) func(dst []float64, raw []byte) {
	elements := make([]E, piece)
	return func(dst []float64, raw []byte) {
		for len(dst) > 0 {
			n := min(piece, len(dst))
			binary.Decode(raw[:n*t.Size], t.Order(), elements[:n]) // which fit
			for i, v := range elements[:n] {
				dst[i] = float64(v)
			}
			dst, raw = dst[n:], raw[n*t.Size:]
		}
	}
}

// IsInteger reports whether Integer may be called.
func (t Type) IsInteger() bool {
	switch t.Kind {
	case 'i', 'u':
		return t.Size == 1 || t.Size == 2 || t.Size == 4 || t.Size == 8
	case 'b':
		return t.Size == 1
	}
	return false
}

// Integer returns the bytes of an element as int64; false if it does not fit.
func (t Type) Integer(b []byte) (int64, bool) {
	o := t.Order()
	var u uint64
	switch t.Size {
	case 1:
		u = uint64(b[0])
	case 2:
		u = uint64(o.Uint16(b))
	case 4:
		u = uint64(o.Uint32(b))
	case 8:
		u = o.Uint64(b)
	}
	if t.Kind == 'i' {
		shift := 64 - 8*t.Size
		return int64(u<<shift) >> shift, true
	}
	return int64(u), u <= math.MaxInt64
}

// Number is an element of the arrays that Read and Write take.
type Number interface {
	int32 | int64 | float32 | float64
}

// piece is how many elements Read and Write move at a time.
const piece = 4096

// Read fills v with little-endian numbers of r.
func Read[T Number](r io.Reader, v []T) error {
	width := binary.Size(T(0))
	buffer := make([]byte, width*min(piece, len(v)))
	for len(v) > 0 {
		n := min(piece, len(v))
		if _, err := io.ReadFull(r, buffer[:width*n]); err != nil {
			return err
		}
		if _, err := binary.Decode(buffer[:width*n], binary.LittleEndian, v[:n]); err != nil {
			return err
		}
		v = v[n:]
	}
	return nil
}

// Write writes v to w as little-endian numbers. It returns what w fails with.
func Write[T Number](w io.Writer, v []T) error {
	buffer := make([]byte, 0, binary.Size(T(0))*min(piece, len(v)))
	for len(v) > 0 {
		n := min(piece, len(v))
		b, err := binary.Append(buffer, binary.LittleEndian, v[:n])
		if err == nil {
			_, err = w.Write(b)
		}
		if err != nil {
			return err
		}
		v = v[n:]
	}
	return nil
}
