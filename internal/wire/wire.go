// Package wire carries requests and results between programs: JSON, and beside it the arrays of
// fields with a tag array, as bytes of memory that both programs share.
package wire

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unsafe"
)

// Array is an array beside the JSON.
type Array struct {
	At     string `json:"at"`   // the path of its field, by names and places: data.table.columns.3.numbers
	Type   string `json:"type"` // of numpy: <f8, <f4, <i8, <i4, |u1 or |b1
	Shape  []int  `json:"shape"`
	Offset int    `json:"offset"` // in the memory, a multiple of Align
}

// Align is what places of arrays in the memory are multiples of.
const Align = 64

// elements are the types of elements that Go and numpy share.
var elements = map[reflect.Kind]string{reflect.Float64: "<f8", reflect.Float32: "<f4",
	reflect.Int64: "<i8", reflect.Int32: "<i4", reflect.Uint8: "|u1", reflect.Bool: "|b1"}

// Decode fills in what into points to, from JSON by Strict and arrays in memory, which into shares.
func Decode(text []byte, arrays []Array, memory []byte, into any) error {
	if err := Strict(text, into); err != nil {
		return fmt.Errorf("request: %w", err)
	}
	for _, a := range arrays {
		field, err := find(reflect.ValueOf(into), strings.Split(a.At, "."))
		if err == nil {
			err = a.enter(field, memory)
		}
		if err != nil {
			return fmt.Errorf("request: array %s: %w", a.At, err)
		}
	}
	return nil
}

// find returns the field of a path, making what pointers on the way lack.
func find(v reflect.Value, path []string) (reflect.Value, error) {
	if v.Kind() == reflect.Pointer && (len(path) > 0 || !v.CanInterface()) {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		return find(v.Elem(), path)
	}
	if len(path) == 0 {
		return v, nil
	}
	switch v.Kind() {
	case reflect.Slice:
		if k, err := strconv.Atoi(path[0]); err == nil && k >= 0 && k < v.Len() {
			return find(v.Index(k), path[1:])
		}
	case reflect.Struct:
		for k := range v.NumField() {
			f := v.Type().Field(k)
			if f.Anonymous && f.Type.Kind() == reflect.Struct {
				if found, err := find(v.Field(k), path); err == nil {
					return found, nil
				}
			}
			if f.IsExported() && nameOf(f) == path[0] {
				return find(v.Field(k), path[1:])
			}
		}
	}
	return v, fmt.Errorf("%s has no %s", v.Type(), path[0])
}

// nameOf is what paths call a field.
func nameOf(f reflect.StructField) string {
	if name := f.Tag.Get("array"); name != "" {
		return name
	}
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// enter sets a field to the array.
func (a *Array) enter(field reflect.Value, memory []byte) error {
	n := 1
	for _, size := range a.Shape {
		if size < 0 || size > len(memory) {
			return fmt.Errorf("got shape %v in %d bytes", a.Shape, len(memory))
		}
		n *= size
	}
	if u, ok := binary(field); ok {
		part, err := a.bytes(memory, n)
		if err != nil {
			return err
		}
		return u.UnmarshalBinary(part)
	}
	t := field.Type()
	if t.Kind() != reflect.Slice {
		return fmt.Errorf("%s is no array", t)
	}
	if t.Elem().Kind() == reflect.Slice { // of rows
		if len(a.Shape) != 2 {
			return fmt.Errorf("got shape %v, want two dimensions", a.Shape)
		}
		all := reflect.New(t.Elem()).Elem()
		flat := Array{Type: a.Type, Shape: []int{n}, Offset: a.Offset}
		if err := flat.enter(all, memory); err != nil {
			return err
		}
		rows, width := reflect.MakeSlice(t, a.Shape[0], a.Shape[0]), a.Shape[1]
		for i := range a.Shape[0] {
			rows.Index(i).Set(all.Slice3(i*width, (i+1)*width, (i+1)*width))
		}
		field.Set(rows)
		return nil
	}
	if a.Type != elements[t.Elem().Kind()] {
		return fmt.Errorf("got elements %s, want %s", a.Type, elements[t.Elem().Kind()])
	}
	part, err := a.bytes(memory, n*int(t.Elem().Size()))
	if err != nil {
		return err
	}
	if n == 0 {
		field.Set(reflect.MakeSlice(t, 0, 0))
		return nil
	}
	field.Set(reflect.NewAt(reflect.ArrayOf(n, t.Elem()), unsafe.Pointer(&part[0])).Elem().Slice(0, n))
	return nil
}

// bytes returns size bytes of the array.
func (a *Array) bytes(memory []byte, size int) ([]byte, error) {
	if a.Offset < 0 || a.Offset%Align != 0 || size > len(memory) || a.Offset > len(memory)-size {
		return nil, fmt.Errorf("got %d bytes at %d, want a multiple of %d within %d", size, a.Offset,
			Align, len(memory))
	}
	return memory[a.Offset : a.Offset+size : a.Offset+size], nil
}

// binary returns the field as what makes itself from bytes.
func binary(field reflect.Value) (encoding.BinaryUnmarshaler, bool) {
	if field.Kind() == reflect.Pointer {
		if u, ok := reflect.New(field.Type().Elem()).Interface().(encoding.BinaryUnmarshaler); ok {
			field.Set(reflect.ValueOf(u))
			return u, true
		}
	}
	return nil, false
}

// Encode returns a value as JSON, and its arrays with the bytes of each, whose places are as if all
// lay one after another. Arrays below a field with the tag array:"-" are left out. Of more values,
// only the arrays are returned.
func Encode(value any, more ...any) (text []byte, arrays []Array, parts [][]byte, err error) {
	e := encoder{}
	for _, v := range append([]any{value}, more...) {
		if err := e.walk(reflect.ValueOf(v), ""); err != nil {
			return nil, nil, nil, err
		}
	}
	text, err = json.Marshal(value)
	return text, e.arrays, e.parts, err
}

type encoder struct {
	arrays []Array
	parts  [][]byte
	end    int
}

// walk finds the arrays of a value.
func (e *encoder) walk(v reflect.Value, path string) error {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return e.walk(v.Elem(), path)
		}
	case reflect.Slice:
		if kind := v.Type().Elem().Kind(); kind != reflect.Struct && kind != reflect.Pointer {
			return nil
		}
		for k := range v.Len() {
			if err := e.walk(v.Index(k), join(path, strconv.Itoa(k))); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for k := range v.NumField() {
			f := v.Type().Field(k)
			switch name := nameOf(f); {
			case f.Anonymous && f.Type.Kind() == reflect.Struct:
				if err := e.walk(v.Field(k), path); err != nil {
					return err
				}
			case !f.IsExported() || name == "" || name == "-": // also of a tag array:"-"
			case f.Tag.Get("array") != "":
				if err := e.add(v.Field(k), join(path, name)); err != nil {
					return err
				}
			default:
				if err := e.walk(v.Field(k), join(path, name)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// add adds the array of a field, unless it is nil.
func (e *encoder) add(v reflect.Value, path string) error {
	if v.IsNil() {
		return nil
	}
	a := Array{At: path, Type: "|u1", Offset: e.end}
	var part []byte
	if m, ok := v.Interface().(encoding.BinaryMarshaler); ok {
		var err error
		if part, err = m.MarshalBinary(); err != nil {
			return err
		}
		a.Shape = []int{len(part)}
	} else {
		t := v.Type().Elem()
		a.Shape = []int{v.Len()}
		if t.Kind() == reflect.Slice {
			width := 0
			all := reflect.MakeSlice(t, 0, 0)
			for i := range v.Len() {
				width = v.Index(i).Len()
				all = reflect.AppendSlice(all, v.Index(i))
			}
			v, t, a.Shape = all, t.Elem(), []int{v.Len(), width}
		}
		a.Type = elements[t.Kind()]
		if n := v.Len(); n > 0 {
			part = unsafe.Slice((*byte)(v.UnsafePointer()), n*int(t.Size()))
		}
	}
	e.arrays, e.parts = append(e.arrays, a), append(e.parts, part)
	e.end += (len(part) + Align - 1) / Align * Align
	return nil
}
