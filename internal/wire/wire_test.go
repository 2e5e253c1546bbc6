package wire

import (
	"math"
	"reflect"
	"slices"
	"testing"
)

// Inner has arrays of all kinds.
type Inner struct {
	Name   string      `json:"name"`
	Reals  []float64   `json:"-" array:"reals"`
	Rows   [][]float64 `json:"-" array:"rows"`
	Codes  []int32     `json:"-" array:"codes"`
	Truths []bool      `json:"-" array:"truths"`
	File   *blob       `json:"-" array:"file"`
}

type blob struct{ text string }

func (b *blob) MarshalBinary() ([]byte, error) { return []byte(b.text), nil }

func (b *blob) UnmarshalBinary(text []byte) error { b.text = string(text); return nil }

type flags struct {
	Many []Inner `json:"many"`
	One  *Inner  `json:"one,omitempty"`
}

type outer struct {
	flags
	N    int   `json:"n"`
	Echo Inner `json:"echo" array:"-"`
}

// laid returns the parts as one memory.
func laid(parts [][]byte) (memory []byte) {
	for _, p := range parts {
		memory = append(memory, p...)
		memory = append(memory, make([]byte, (Align-len(p)%Align)%Align)...)
	}
	return memory
}

// What is encoded is decoded, numbers that JSON has not among it, but for what is an echo.
func TestRoundTrip(t *testing.T) {
	inner := Inner{Name: "a", Reals: []float64{1, math.Inf(1), -0}, Rows: [][]float64{{1, 2}, {3, 4}},
		Codes: []int32{-1, 7}, Truths: []bool{true, false}, File: &blob{"bytes"}}
	want := outer{flags{[]Inner{{Name: "b"}, inner}, &Inner{Reals: []float64{}}}, 3, inner}
	text, arrays, parts, err := Encode(&want)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(arrays, func(a Array) bool { return a.At == "many.1.rows" }) {
		t.Errorf("paths: got %v", arrays)
	}
	var got outer
	if err := Decode(text, arrays, laid(parts), &got); err != nil {
		t.Fatal(err)
	}
	want.Echo = Inner{Name: "a"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// Arrays that do not fit their field or the memory are refused, and so are unknown names.
func TestRefuses(t *testing.T) {
	memory := make([]byte, 128)
	for name, c := range map[string]struct {
		text string
		a    Array
	}{
		"field":    {`{}`, Array{At: "two.reals", Type: "<f8", Shape: []int{1}}},
		"place":    {`{"many":[{}]}`, Array{At: "many.1.reals", Type: "<f8", Shape: []int{1}}},
		"type":     {`{}`, Array{At: "one.reals", Type: "<f4", Shape: []int{1}}},
		"size":     {`{}`, Array{At: "one.reals", Type: "<f8", Shape: []int{17}}},
		"negative": {`{}`, Array{At: "one.reals", Type: "<f8", Shape: []int{-1}}},
		"product":  {`{}`, Array{At: "one.rows", Type: "<f8", Shape: []int{100, 100}}},
		"offset":   {`{}`, Array{At: "one.reals", Type: "<f8", Shape: []int{9}, Offset: 64}},
		"aligned":  {`{}`, Array{At: "one.reals", Type: "<f8", Shape: []int{1}, Offset: 8}},
		"scalar":   {`{}`, Array{At: "n", Type: "<f8", Shape: []int{1}}},
		"name":     {`{"m": 1}`, Array{At: "one.reals", Type: "<f8", Shape: []int{1}}},
	} {
		if err := Decode([]byte(c.text), []Array{c.a}, memory, new(outer)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
