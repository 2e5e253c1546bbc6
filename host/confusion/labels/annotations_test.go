package labels

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/confusion/crowd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

func TestReadAnnotations(t *testing.T) {
	want := &dataset.Annotations{
		Classes: []string{"x", "y", "z"}, Names: []string{"ann", "bob", "eve"},
		Start: []int{0, 2, 3, 5}, By: []int32{0, 1, 1, 0, 2}, Label: []int32{2, 0, 1, 0, 0},
	}
	for name, text := range map[string]string{
		"plain":     "index,worker,label\n0,ann,z\n0,bob,x\n1,bob,y\n2,ann,x\n2,eve,x\n",
		"any order": "label,index,worker\nx,2,eve\ny,1,bob\nz,0,ann\nx,0,bob\nx,2,ann\n",
		"other words, more": "\ufeffindex,when,annotator,label\r\n2,-,eve,x\r\n" +
			"1,-,bob,y\r\n0,-,ann,z\r\n0,-,bob, x\r\n2,-,ann,x\r\n",
	} {
		for _, data := range [][]byte{[]byte(text), gzipped(t, []byte(text))} {
			got, err := Annotations(t.Context(), save(t, "a.csv", data), examples(3),
				Options{Classes: want.Classes})
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %+v, %v, wanted %+v", name, got, err, want)
				continue
			}
			if got.Hash() != want.Hash() {
				t.Errorf("%s: another hash", name)
			}
			if err := got.Check(3, 3); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	// Classes of the table, sorted.
	text := "index,worker,label\n0,ann,z\n0,bob,x\n1,bob,y\n2,ann,x\n2,eve,x\n"
	got, err := Annotations(t.Context(), save(t, "a.csv", []byte(text)),
		examples(3), Options{})
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("classes of the table: %+v, %v", got, err)
	}
}

func TestReadAnnotationsRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "a.csv:1 text"},
		{"index,worker\n", `a.csv:1 "index,worker"`},
		{"row,worker,label,annotator\n", `a.csv:1 two columns "worker"`},
		{"row,worker,label\n", "a.csv header no label"},
		{"row,bo,bo\n1,x,y\n", `a.csv:1 "bo" twice`},
		{"row,bo,\n1,x,y\n", "a.csv:1 without a name"},
		{"al,bo\nx,y\n", "a.csv 1 lines 3 rows"},
		{"al,bo\nx,y\nx,y\nx,y\nx,y\n", "a.csv:5 more than 3 lines"},
		{"item,worker,label\n1,a,x\n2,a,y\n", "a.csv:2 column item ids row index"},
		{"index,worker,label\n0,a\n", "a.csv:2:4 2 fields 3"},
		{"index,worker,label\n0,a,x\n3,a,x\n", `a.csv:3 "3" row 0 2`},
		{"row,worker,label\n0,a,x\n", `a.csv:2 row "0" 1 3`},
		{"index,worker,label\nq,a,x\n", `a.csv:2 "q"`},
		{"index,worker,label\n-1,a,x\n", `a.csv:2 "-1"`},
		{"index,worker,label\n0,,x\n", "a.csv:2 name"},
		{"index,al, al\n0,x,y\n", `a.csv:1 annotator " al" twice`},
		{"index,worker,label\n0,a,w\n", `a.csv:2 "w" "x" "y"`},
		{"index,worker,label\n0,\"a,x\n", "a.csv:2:3 closing"},
	} {
		_, err := Annotations(t.Context(), save(t, "a.csv", []byte(c.text)),
			examples(3), Options{Classes: []string{"x", "y"}})
		if !facts.Told(err, c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
	if _, err := Annotations(t.Context(), "nowhere.csv", examples(1), Options{}); err == nil {
		t.Error("a file that is not there: no error")
	}
	mixed := save(t, "a.csv", []byte("al,bo\n0,0.0\n1,\n"))
	if _, err := Annotations(t.Context(), mixed, nil, Options{}); !facts.Told(err, `"0" "0.0" Int64`) {
		t.Errorf("two spellings of a number: %v", err)
	}
	one := save(t, "a.csv", []byte("index,worker,label\n0,a,x\n"))
	if _, err := Annotations(t.Context(), one, examples(1), Options{}); !facts.Told(err,
		"2") {
		t.Errorf("a table of one class: %v", err)
	}
}

// Tables that name the same examples differently, or come in another form, mean the same.
func TestAnnotationForms(t *testing.T) {
	long := func(column string, names ...string) string {
		text := column + ",worker,label\n"
		for k, rest := range []string{"bo,y", "al,x", "bo,x"} {
			text += names[k] + "," + rest + "\n"
		}
		return text
	}
	// of the examples p, q and r; nobody labelled q
	for name, c := range map[string]struct {
		text string
		ids  bool
	}{
		"rows":            {long("row", "1", "1", "3"), false},
		"example":         {long("Example", "1", "1", "3"), true},
		"index":           {long("index", "0", "0", "2"), true},
		"index of pandas": {long("", "0", "0", "2.0"), false},
		"ids":             {long("id", "p", "p", "r"), true},
		"item ids":        {long("item", "p", "p", "r"), true},
		"own ids":         {long("customer", "p", "p", "r"), true},
		"ids before rows": {"row,worker,label,id\n9,bo,y,p\n9,al,x,p\n9,bo,x,r\n", true},
		"wide":            {"row,al,bo\n1,x,y\n3,,x\n", false},
		"wide ids":        {"customer,bo,al\np,y,x\nr,x,\n", true},
		"wide, in order":  {"al,bo\nx,y\n,\n,x\n", false},
	} {
		d := examples(3)
		if c.ids {
			d.IDs, d.ID = []string{"p", "q", "r"}, "customer"
		}
		a, err := Annotations(t.Context(), save(t, "a.csv", []byte(c.text)), d,
			Options{Classes: []string{"x", "y"}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !slices.Equal(a.Start, []int{0, 2, 2, 3}) || !slices.Equal(a.By, []int32{0, 1, 1}) ||
			!slices.Equal(a.Label, []int32{0, 1, 0}) || !slices.Equal(a.Labelled(), []int{0, 2}) {
			t.Errorf("%s: got %+v", name, a)
		}
	}
	// without data
	for text, want := range map[string][]string{
		"id,worker,label\nq,bo,y\np,al,x\nq,al,x\n":    {"p", "q"},
		"row,worker,label\n10,bo,y\n9,al,x\n10,al,x\n": {"9", "10"},
	} {
		a, err := Annotations(t.Context(), save(t, "a.csv", []byte(text)), nil, Options{})
		if err != nil || !slices.Equal(a.Items, want) || !slices.Equal(a.Start, []int{0, 1, 3}) {
			t.Errorf("%q: got %+v, %v", text, a, err)
		}
	}
}

// An annotator may label an example twice, as in crowd tables of the wild: both labels count.
func TestRepeatedAnnotations(t *testing.T) {
	text := "row,worker,label\n1,a,x\n2,b,y\n1,a,y\n1,a,y\n"
	a, err := Annotations(t.Context(), save(t, "a.csv", []byte(text)),
		examples(2), Options{Classes: []string{"x", "y"}})
	if err == nil {
		err = a.Check(2, 2)
	}
	if err != nil || a.Repeats() != 2 || !slices.Equal(a.Votes(1), []int32{1, 1}) {
		t.Fatalf("got %+v, %v", a, err)
	}
	if r, err := crowd.Fit(t.Context(), a, crowd.Options{}); err != nil || r.Consensus[1] != 1 {
		t.Errorf("consensus: got %+v, %v", r, err)
	}
}

// Somebody whose labels are right: read, hashed, picked, and the only one who counts where there
// is a label.
func TestRightAnnotators(t *testing.T) {
	text := "index,worker,label\n0,a,x\n0,b,x\n0,chief,y\n1,a,y\n2,b,x\n2,chief,x\n2,boss,x\n"
	path := save(t, "a.csv", []byte(text))
	read := func(right ...string) *dataset.Annotations {
		a, err := Annotations(t.Context(), path, examples(3), Options{Classes: []string{"x", "y"},
			Right: right})
		if err == nil {
			err = a.Check(3, 2)
		}
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := read("chief", "boss")
	for i, want := range []int32{1, -1, 0} {
		if class, known := a.Known(i); known != (want >= 0) || known && class != want {
			t.Errorf("example %d is of class %d, known: %v; wanted %d", i, class, known, want)
		}
		if class, known := a.Pick([]int{1, i}).Known(1); known != (want >= 0) || known && class != want {
			t.Errorf("example %d picked is of class %d, known: %v; wanted %d", i, class, known, want)
		}
	}
	if got := a.Votes(1); !slices.Equal(got, []int32{1, 1, 0}) {
		t.Errorf("votes %v", got)
	}
	hashes := []string{read().Hash(), read("chief").Hash(), read("boss").Hash(), a.Hash()}
	if slices.Sort(hashes); len(slices.Compact(hashes)) != 4 {
		t.Error("who is right does not show in the hash")
	}
	for want, right := range map[string][]string{
		`"eve" "a" "b"`:                      {"chief", "eve"},
		`a.csv:4 "y" "chief" "x" "a" line 2`: {"a", "chief"},
	} {
		_, err := Annotations(t.Context(), path, examples(3), Options{Classes: []string{"x", "y"},
			Right: right})
		if !facts.Told(err, want) {
			t.Errorf("%v, wanted %s", err, want)
		}
	}
	a.Right[0] = true
	if err := a.Check(3, 2); !facts.Told(err, "labels 0 1") {
		t.Errorf("contradicting: %v", err)
	}
	a.Right = a.Right[:2]
	if err := a.Check(3, 2); !facts.Told(err, "2 annotators") {
		t.Errorf("too few: %v", err)
	}
}

// array is an .npy file of int64 rows.
func array(rows [][]int64) []byte {
	b := npyfile.Header("<i8", len(rows), len(rows[0]))
	var out bytes.Buffer
	out.Write(b)
	for _, row := range rows {
		npyfile.Write(&out, row) // to memory
	}
	return out.Bytes()
}

func TestReadFunctions(t *testing.T) {
	want := &dataset.Annotations{Classes: []string{"0", "1"}, Names: []string{"1", "2", "3"},
		Functions: true, Start: []int{0, 2, 2, 3}, By: []int32{0, 2, 1}, Label: []int32{1, 0, 1}}
	votes := array([][]int64{{1, -1, 0}, {-1, -1, -1}, {-1, 1, -1}})
	for name, text := range map[string][]byte{
		"csv":      []byte("1,2,3\n1,,0\n,-1,abstain\n-1.0,1,\n"),
		"long csv": []byte("row,worker,label\n1,1,1\n1,3,0\n2,2,-1\n3,2,1\n"),
		"npy":      votes,
	} {
		for _, data := range [][]byte{text, gzipped(t, text)} {
			got, err := Annotations(t.Context(), save(t, "v", data), examples(3), Options{Functions: true})
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %+v, %v, wanted %+v", name, got, err, want)
			}
		}
	}
}

func TestReadFunctionsRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"votes of nobody", "a,b,c\n", "v 0 lines 3"},
		{"abstain everywhere", "a,b\n-1,\n,abstain\n-1,-1\n", "v no label"},
		{"one class", "a,b\n1,\n,1\n1,1\n", "v 1 classes"},
		{"unknown item", "row,worker,label\n4,a,1\n", `v:2 row "4" 1 3`},
		{"too few rows", "a,b\n1,0\n", "v 1 lines 3"},
		{"voted twice", "row,worker,label\n1,a,1\n1,a,0\n2,b,1\n", `v:3 "a" twice line 2`},
		{"a vote below -1", string(array([][]int64{{-2, 1}, {0, 1}, {0, 1}})), "v row 1 -2 abstain"},
		{"too few votes", string(array([][]int64{{0, 1}})), "v 1 rows 3"},
		{"flat array", string(append(npyfile.Header("<i8", 3), make([]byte, 24)...)), "v 1 dimensions matrix"},
		{"shares", string(append(npyfile.Header("<f8", 3, 1), float64Bytes(1, .5, 0)...)), "v row 2 0.5 class"},
		{"long array", string(append(npyfile.Header("<i8", 3, 2), make([]byte, 49)...)), "v more bytes"},
		{"short array", string(append(npyfile.Header("<i8", 3, 2), make([]byte, 24)...)), "v examples 3 short"},
	} {
		_, err := Annotations(t.Context(), save(t, "v", []byte(c.text)), examples(3),
			Options{Functions: true})
		if !facts.Told(err, c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := Annotations(t.Context(), "nowhere", nil, Options{Functions: true}); err == nil ||
		!strings.Contains(err.Error(), "nowhere") {
		t.Errorf("no file: %v", err)
	}
}

// Words for a missing vote abstain, in both forms; -1 does unless it is one of two classes.
func TestVotesThatAbstain(t *testing.T) {
	long := "row,worker,label\n1,a,x\n1,b,%s\n2,a,y\n2,b,x\n"
	wide := "a,b\nx,%s\ny,x\n"
	for _, form := range []string{long, wide} {
		for _, vote := range []string{"", "NA", "nan", "None", "<NA>", "NaN", "null", " ", "Abstain",
			"-1", "-1.0"} {
			for _, functions := range []bool{false, true} {
				text := fmt.Sprintf(form, vote)
				a, err := Annotations(t.Context(), save(t, "a.csv", []byte(text)), nil,
					Options{Functions: functions})
				if err != nil || !slices.Equal(a.Classes, []string{"x", "y"}) || len(a.Label) != 3 {
					t.Errorf("%q, functions %v: got %+v, %v", text, functions, a, err)
				}
			}
		}
	}
	signs := save(t, "a.csv", []byte("a,b\n1,-1\n-1,1\n"))
	a, err := Annotations(t.Context(), signs, nil, Options{})
	if err != nil || len(a.Label) != 4 {
		t.Errorf("classes -1 and 1: got %+v, %v", a, err)
	}
	none := save(t, "a.csv", []byte("a,b\nNone,x\nx,None\n"))
	a, err = Annotations(t.Context(), none, nil, Options{Classes: []string{"None", "x"}})
	if err != nil || len(a.Label) != 4 {
		t.Errorf("a class None of the data: got %+v, %v", a, err)
	}
}
