package estimate

import (
	"slices"
	"strings"
	"testing"
)

func TestReadClean(t *testing.T) {
	y := []int32{2, 1, 0, 0}
	for text, want := range map[string]Clean{
		"item,label\n3,b\n0,c\n": {Noisy: []int32{0, 2}, Right: []int32{1, 2},
			Item: []int{3, 0}},
		"\ufefftrue,note,index\nb,x,3\nc,,0\n": {Noisy: []int32{0, 2}, Right: []int32{1, 2},
			Item: []int{3, 0}},
		",given,clean_label\n3,a,b\n":  {Noisy: []int32{0}, Right: []int32{1}, Item: []int{3}},
		"noisy,true\na,b\nc,c\n":       {Noisy: []int32{0, 2}, Right: []int32{1, 2}},
		"gold,label\r\nb,a\r\nc,c\r\n": {Noisy: []int32{0, 2}, Right: []int32{1, 2}},
	} {
		for _, data := range [][]byte{[]byte(text), gzipped(t, []byte(text))} {
			c, err := ReadClean(t.Context(), save(t, "c.csv", data), CleanOptions{Classes: abc, Y: y})
			if err != nil || !slices.Equal(c.Noisy, want.Noisy) || !slices.Equal(c.Right, want.Right) ||
				!slices.Equal(c.Item, want.Item) {
				t.Errorf("%q: got %+v, %v; wanted %+v", text, c, err, want)
			}
		}
	}
	c, err := ReadClean(t.Context(), save(t, "c.csv", []byte("true,noisy\nz,x\nx,x\n")),
		CleanOptions{})
	if err != nil || !slices.Equal(c.Classes, []string{"x", "z"}) {
		t.Fatalf("got %+v, %v", c, err)
	}
	if err := c.Arrange([]string{"z", "y", "x"}); err != nil || !slices.Equal(c.Right, []int32{0, 2}) {
		t.Errorf("arranged: %+v, %v", c, err)
	}
	if err := c.Arrange(abc); err == nil {
		t.Error("arranged by other classes: wanted an error")
	}
}

func TestReadCleanErrors(t *testing.T) {
	for text, want := range map[string]string{
		"": "found no text, wanted a table with the header item,label or " +
			"noisy,true",
		"a,b\n1,2\n":                  `:1: the header is "a,b", wanted columns item and label, or columns of noisy`,
		"true,gold\na,b\n":            `:1: the header has two columns of true classes, "true" and "gold"`,
		"item,label\n":                "found a header and no line",
		"item,label\n0\n":             ":2: found 1 fields, wanted 2 as the header has",
		"item,label\nx,a\n":           `:2: found item "x", wanted the number of an example, 0 to 1`,
		"item,label\n2,a\n":           `:2: found item "2", wanted the number of an example, 0 to 1`,
		"item,label\n1,a\n0,b\n1,a\n": `:4: item 1 is here and in line 2, wanted once`,
		"item,label\n1,d\n":           `:2: found class "d", wanted a class of the data: "a", "b", "c"`,
		"noisy,true\na,\n":            `:2: found class "", wanted a class of the data`,
		"noisy,true\n\"a,b\n":         "found broken CSV",
		"\x1f\x8b\x08":                "cannot unpack the gzip data",
	} {
		path := save(t, "c.csv", []byte(text))
		_, err := ReadClean(t.Context(), path, CleanOptions{Classes: abc, Y: []int32{0, 1}})
		if err == nil || !strings.HasPrefix(err.Error(), path+":") || !strings.Contains(err.Error(),
			want) {
			t.Errorf("%q: %v, wanted %q", text, err, want)
		}
	}
	if _, err := ReadClean(t.Context(), "none", CleanOptions{}); err == nil ||
		!strings.Contains(err.Error(), "none: cannot read") {
		t.Errorf("no file: %v", err)
	}
	if _, err := ReadClean(t.Context(), save(t, "c", []byte("noisy,true\na,a\n")),
		CleanOptions{}); err == nil {
		t.Error("one class: wanted an error")
	}
}
