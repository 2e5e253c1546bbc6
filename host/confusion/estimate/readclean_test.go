package estimate

import (
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

func TestReadClean(t *testing.T) {
	y := []int32{2, 1, 0, 0}
	for text, want := range map[string]Clean{
		"index,label\n3,b\n0,c\n": {Noisy: []int32{0, 2}, Right: []int32{1, 2},
			Item: []int{3, 0}},
		"\ufefftrue,note,index\nb,x,3\nc,,0\n": {Noisy: []int32{0, 2}, Right: []int32{1, 2},
			Item: []int{3, 0}},
		"row,label\n4,b\n1,c\n": {Noisy: []int32{0, 2}, Right: []int32{1, 2}, Item: []int{3, 0}},
		// a list of label issues, half of it checked
		"example,is_label_issue,given_label,true\n4,True,a,b\n2,True,b,\n1,True,,c\n": {
			Noisy: []int32{0, 2}, Right: []int32{1, 2}, Item: []int{3, 0}},
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
		"":                               "text",
		"a,b\n1,2\n":                     `c.csv:1 "a,b"`,
		"true,gold\na,b\n":               `c.csv:1 "true" "gold"`,
		"item,label\n":                   "header true class",
		"item,label\n0\n":                "c.csv:2 1 fields 2",
		"index,label\nx,a\n":             `c.csv:2 "x" row 0 1`,
		"index,label\n2,a\n":             `c.csv:2 "2" row 0 1`,
		"item,label\n1,a\n":              "c.csv:2 column item ids row index",
		"index,label\n1,a\n0,b\n1,a\n":   `c.csv:4 index "1" line 2`,
		"row,noisy,true\n1,a,b\n2,a,b\n": `c.csv:3 "a" "b"`,
		"index,label\n1,d\n":             `c.csv:2 "d" "a" "b" "c"`,
		"noisy,true\na,\n":               `c.csv:2 ""`,
		"noisy,true\n\"a,b\n":            "CSV",
		"\x1f\x8b\x08":                   "unpack",
	} {
		path := save(t, "c.csv", []byte(text))
		_, err := ReadClean(t.Context(), path, CleanOptions{Classes: abc, Y: []int32{0, 1}})
		if err == nil || !strings.HasPrefix(err.Error(), path+":") || !facts.Told(err, want) {
			t.Errorf("%q: %v, wanted %q", text, err, want)
		}
	}
	if _, err := ReadClean(t.Context(), "none", CleanOptions{}); !facts.Told(err, "none") {
		t.Errorf("no file: %v", err)
	}
	if _, err := ReadClean(t.Context(), save(t, "c", []byte("noisy,true\na,a\n")),
		CleanOptions{}); err == nil {
		t.Error("one class: wanted an error")
	}
}

// Row numbers refer to the input: skipped rows are counted and cannot be named.
func TestReadCleanOfSkippedRows(t *testing.T) {
	o := CleanOptions{Classes: abc, Y: []int32{2, 1, 0}, Source: []int{1, 2, 5}}
	for text, want := range map[string]string{
		"row,label\n2,a\n6,b\n":   "",
		"index,label\n1,a\n5,b\n": "",
		"row,label\n1,a\n":        `c.csv:2 row "1" skipped`,
		"row,label\n4,a\n":        `c.csv:2 row "4" skipped`,
		"row,label\n7,a\n":        `c.csv:2 row "7" 1 6`,
	} {
		c, err := ReadClean(t.Context(), save(t, "c.csv", []byte(text)), o)
		if want != "" {
			if !facts.Told(err, want) {
				t.Errorf("%q: %v, wanted %q", text, err, want)
			}
		} else if err != nil || !slices.Equal(c.Item, []int{0, 2}) ||
			!slices.Equal(c.Noisy, []int32{2, 0}) {
			t.Errorf("%q: got %+v, %v", text, c, err)
		}
	}
}
