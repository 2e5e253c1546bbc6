package labels

import (
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

func TestRight(t *testing.T) {
	d := &dataset.Dataset{Examples: dataset.Examples{N: 4}, Classes: abc, Y: []int32{2, 1, 0, 0}}
	for text, want := range map[string][]int32{
		"index,label\n3,b\n0,c\n":              {2, -1, -1, 1},
		"\ufefftrue,note,index\nb,x,3\nc,,0\n": {2, -1, -1, 1},
		"row,label\n4,b\n1,c\n":                {2, -1, -1, 1},
		// a list of label issues, half of it checked
		"example,is_label_issue,given_label,true\n4,True,a,b\n2,True,b,\n1,True,,c\n": {2, -1, -1, 1},
		",given,clean_label\n3,a,b\n": {-1, -1, -1, 1},
	} {
		for _, data := range [][]byte{[]byte(text), gzipped(t, []byte(text))} {
			right, err := Right(t.Context(), save(t, "c.csv", data), d)
			if err != nil || !slices.Equal(right, want) {
				t.Errorf("%q: got %v, %v; wanted %v", text, right, err, want)
			}
		}
	}
	for _, text := range []string{"noisy,true\nx,z\nz,z\n", "gold,label\r\nz,x\r\nz,z\r\n"} {
		classes, noisy, right, err := Pairs(t.Context(), save(t, "c.csv", []byte(text)))
		if err != nil || !slices.Equal(classes, []string{"x", "z"}) ||
			!slices.Equal(noisy, []int32{0, 1}) || !slices.Equal(right, []int32{1, 1}) {
			t.Errorf("%q: got %v, %v, %v, %v", text, classes, noisy, right, err)
		}
	}
}

func TestRightRefuses(t *testing.T) {
	d := &dataset.Dataset{Examples: dataset.Examples{N: 2}, Classes: abc, Y: []int32{0, 1}}
	for text, want := range map[string]string{
		"":                               "text",
		"a,b\n1,2\n":                     `c.csv:1 "a,b"`,
		"noisy,true\na,b\n":              `c.csv:1 "noisy,true" row`,
		"row,true,gold\n1,a,b\n":         `c.csv:1 "true" "gold"`,
		"item,label\n":                   "header true class",
		"item,label\n0\n":                "c.csv:2:2 1 fields 2",
		"index,label\nx,a\n":             `c.csv:2 "x" row 0 1`,
		"index,label\n2,a\n":             `c.csv:2 "2" row 0 1`,
		"item,label\n1,a\n":              "c.csv:2 column item ids row index",
		"index,label\n1,a\n0,b\n1,a\n":   `c.csv:4 index "1" line 2`,
		"row,noisy,true\n1,a,b\n2,a,b\n": `c.csv:3 "a" "b"`,
		"index,label\n1,d\n":             `c.csv:2 "d" "a" "b" "c"`,
		"\x1f\x8b\x08":                   "c.csv:1 gzip short",
	} {
		path := save(t, "c.csv", []byte(text))
		_, err := Right(t.Context(), path, d)
		if err == nil || !strings.HasPrefix(err.Error(), path+":") || !facts.Told(err, want) {
			t.Errorf("%q: %v, wanted %q", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"index,label\n1,a\n":  `c.csv:1 "index,label"`,
		"true,gold\na,b\n":    `c.csv:1 "true" "gold"`,
		"noisy,true\na,\n":    `c.csv:2 ""`,
		"noisy,true\n\"a,b\n": "c.csv:2:1 closing",
		"noisy,true\na,a\n":   "1 classes",
	} {
		if _, _, _, err := Pairs(t.Context(), save(t, "c.csv", []byte(text))); !facts.Told(err, want) {
			t.Errorf("%q: %v, wanted %q", text, err, want)
		}
	}
	if _, err := Right(t.Context(), "none", d); !facts.Told(err, "none") {
		t.Errorf("no file: %v", err)
	}
}

// Row numbers refer to the input: skipped rows are counted; what is said of them is passed over.
func TestRightOfSkippedRows(t *testing.T) {
	d := &dataset.Dataset{Examples: dataset.Examples{N: 3}, Classes: abc, Y: []int32{2, 1, 0},
		Source: []int{1, 2, 5}}
	for text, want := range map[string]string{
		"row,label\n2,a\n6,b\n":           "",
		"index,label\n1,a\n5,b\n":         "",
		"row,label\n1,c\n6,b\n4,c\n2,a\n": "",
		"row,label\n4,a\n":                "c.csv no true class",
		"row,label\n7,a\n":                `c.csv:2 row "7" 1 6`,
	} {
		right, err := Right(t.Context(), save(t, "c.csv", []byte(text)), d)
		if want != "" {
			if !facts.Told(err, want) {
				t.Errorf("%q: %v, wanted %q", text, err, want)
			}
		} else if err != nil || !slices.Equal(right, []int32{0, -1, 1}) {
			t.Errorf("%q: got %v, %v", text, right, err)
		}
	}
}
