package file

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// Examples keep their row numbers where other rows are passed over, and where some are chosen.
func TestSourceRows(t *testing.T) {
	for _, c := range []struct {
		text string
		want []int
	}{
		{"1,2,a\n3,4,b\n5,6,a\n", []int{0, 1, 2}},
		{"x,2,a\n\n3,4,b\n# a comment\n5,6,a\n", []int{1, 2}},
		{"1,2,a\nx,4,b\n5,6,b\n", []int{0, 2}},
		{"1,2,a\n3,4,b\n5,x,a\n", []int{0, 1}},
		{"1,2\n1,2,a\nx,4,b\n5,6,b\n7,x,b\n8,9,a\n", []int{1, 3, 5}},
	} {
		d, err := ReadFrom(t.Context(), strings.NewReader("p,q,class\n"+c.text), "test",
			Options{SkipBad: math.MaxInt})
		if err != nil {
			t.Fatal(err)
		}
		var rows []int
		for i := range d.N {
			rows = append(rows, d.SourceRow(i))
		}
		if !slices.Equal(rows, c.want) || d.N != len(c.want) {
			t.Errorf("%q: found rows %v, wanted %v", c.text, rows, c.want)
		}
		part, err := d.Choose([]int{d.N - 1, 0})
		if err != nil || part.SourceRow(0) != c.want[d.N-1] || part.SourceRow(1) != c.want[0] {
			t.Errorf("%q: chose rows %v (%v)", c.text, part.Source, err)
		}
	}
}
