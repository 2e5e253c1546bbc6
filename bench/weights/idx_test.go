package main

import (
	"slices"
	"strings"
	"testing"
)

func TestDecodeIDX(t *testing.T) {
	pixels := []byte{0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 1, 255, 3, 4}
	signed := []byte{0, 0, 9, 1, 0, 0, 0, 2, 127, 128}
	for _, c := range []struct {
		name    string
		data    []byte
		rows    int
		n, d    int
		want    []float32
		problem string
	}{
		{name: "three dimensions", data: pixels, n: 2, d: 2, want: []float32{1, 255, 3, 4}},
		{name: "first row", data: pixels, rows: 1, n: 1, d: 2, want: []float32{1, 255}},
		{name: "signed labels", data: signed, n: 2, d: 1, want: []float32{127, -128}},
		{name: "empty", problem: "not an IDX file"},
		{name: "text", data: []byte("1,2,3,4,5"), problem: "not an IDX file"},
		{name: "header cut", data: pixels[:12], problem: "not an IDX file"},
		{name: "float type", data: append([]byte{0, 0, 13}, pixels[3:]...), problem: "not an IDX file"},
		{name: "values cut", data: pixels[:19], problem: "found 2 examples of at least 2 values in 3 bytes"},
		{name: "more values", data: append(slices.Clone(signed), 0), problem: "in 3 bytes"},
		{name: "more rows wanted", data: signed, rows: 3, problem: "at least 3 examples"},
		{name: "no examples", data: []byte{0, 0, 8, 1, 0, 0, 0, 0}, problem: "found 0 examples"},
		{name: "huge", data: []byte{0, 0, 8, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}, problem: "in 0 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, err := decodeIDX(c.data, c.rows)
			if c.problem != "" {
				if err == nil || !strings.Contains(err.Error(), c.problem) {
					t.Fatalf("error %v, want one with %q", err, c.problem)
				}
				return
			}
			if err != nil || x.N != c.n || x.D != c.d || !slices.Equal(x.X, c.want) {
				t.Errorf("found %+v, error %v, want %d×%d %v", x, err, c.n, c.d, c.want)
			}
		})
	}
}

func FuzzDecodeIDX(f *testing.F) {
	f.Add([]byte{0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 1, 255, 3, 4}, 1)
	f.Add([]byte{0, 0, 9, 4, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0}, 0)
	f.Fuzz(func(t *testing.T, data []byte, rows int) {
		x, err := decodeIDX(data, max(rows, 0))
		if err == nil && (x.N < 1 || x.D < 1 || len(x.X) != x.N*x.D || len(x.X) > len(data)) {
			t.Errorf("found %d×%d with %d values in %d bytes", x.N, x.D, len(x.X), len(data))
		}
	})
}
