package exchange

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// message is a message of ONNX under way: fields in protobuf's encoding, by the numbers of
// onnx.proto.
type message []byte

func (m *message) integer(field protowire.Number, v int64) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), uint64(v))
}

func (m *message) bytes(field protowire.Number, b []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), b)
}

func (m *message) text(field protowire.Number, s string) { m.bytes(field, []byte(s)) }

// The types of elements, enum DataType of TensorProto.
const (
	typeFloat  = 1
	typeInt64  = 7
	typeString = 8
	typeDouble = 11
)

// tensor returns a TensorProto; dims are its sizes.
func tensor[T float32 | float64 | int64 | string](name string, values []T,
	dims ...int) (t message) {
	for _, n := range dims {
		t.integer(1, int64(n))
	}
	t.integer(2, int64(elementType[T]()))
	if texts, ok := any(values).([]string); ok {
		for _, s := range texts {
			t.text(6, s)
		}
	} else {
		raw, err := binary.Append(nil, binary.LittleEndian, values)
		if err != nil {
			panic(err) // numbers have a size
		}
		t.bytes(9, raw)
	}
	t.text(8, name)
	return t
}

func elementType[T any]() int {
	switch any(*new(T)).(type) {
	case float32:
		return typeFloat
	case float64:
		return typeDouble
	case int64:
		return typeInt64
	}
	return typeString
}

// attribute is an attribute of a node: an int, a string, or a list of ints, floats or strings.
type attribute struct {
	name  string
	value any
}

func (a attribute) encode() (m message) {
	m.text(1, a.name)
	switch v := a.value.(type) {
	case int:
		m.integer(3, int64(v))
		m.integer(20, 2)
	case string:
		m.text(4, v)
		m.integer(20, 3)
	case []float32:
		for _, f := range v {
			m = protowire.AppendFixed32(protowire.AppendTag(m, 7, protowire.Fixed32Type),
				math.Float32bits(f))
		}
		m.integer(20, 6)
	case []int:
		for _, i := range v {
			m.integer(8, int64(i))
		}
		m.integer(20, 7)
	case []string:
		for _, s := range v {
			m.text(9, s)
		}
		m.integer(20, 8)
	}
	return m
}

// valueInfo returns the ValueInfoProto of an input or output of n rows, which vary, of width
// numbers each; of no columns if width is 0.
func valueInfo(name string, element, width int) (m message) {
	var rows, shape, kind, wrapped message
	rows.text(2, "N")
	shape.bytes(1, rows)
	if width > 0 {
		var columns message
		columns.integer(1, int64(width))
		shape.bytes(1, columns)
	}
	kind.integer(1, int64(element))
	kind.bytes(2, shape)
	wrapped.bytes(1, kind)
	m.text(1, name)
	m.bytes(2, wrapped)
	return m
}
