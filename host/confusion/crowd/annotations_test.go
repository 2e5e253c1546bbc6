package crowd

import (
	"reflect"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/facts"
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
			got, err := ReadAnnotations(t.Context(), save(t, "a.csv", data), AnnotationOptions{Items: 3,
				Classes: want.Classes})
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
	// Classes by the table, then in another order.
	text := "index,worker,label\n0,ann,z\n0,bob,x\n1,bob,y\n2,ann,x\n2,eve,x\n"
	got, err := ReadAnnotations(t.Context(), save(t, "a.csv", []byte(text)),
		AnnotationOptions{Items: 3})
	if err != nil || !slices.Equal(got.Classes, []string{"z", "x", "y"}) {
		t.Fatalf("classes %v, %v", got.Classes, err)
	}
	if err := Arrange(got, want.Classes); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("arranged: %+v, %v", got, err)
	}
	if err := Arrange(got, []string{"x", "y"}); !facts.Told(err, `"z"`) {
		t.Errorf("arranged by other names: %v", err)
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
		{"al,bo\nx,y\n", "a.csv 1 lines 3 examples"},
		{"al,bo\nx,y\nx,y\nx,y\nx,y\n", "a.csv:5 more than 3 lines"},
		{"item,worker,label\n1,a,x\n2,a,y\n", "a.csv:2 column item ids row index"},
		{"index,worker,label\n0,a\n", "a.csv:2 2 fields 3"},
		{"index,worker,label\n0,a,x\n3,a,x\n", `a.csv:3 "3" row 0 2`},
		{"row,worker,label\n0,a,x\n", `a.csv:2 row "0" 1 3`},
		{"index,worker,label\nq,a,x\n", `a.csv:2 "q"`},
		{"index,worker,label\n-1,a,x\n", `a.csv:2 "-1"`},
		{"index,worker,label\n0,,x\n", "a.csv:2 name"},
		{"index,worker,label\n0,a,w\n", `a.csv:2 "w" "x" "y"`},
		{"index,worker,label\n0,\"a,x\n", "a.csv:2 CSV"},
	} {
		_, err := ReadAnnotations(t.Context(), save(t, "a.csv", []byte(c.text)),
			AnnotationOptions{Items: 3, Classes: []string{"x", "y"}})
		if !facts.Told(err, c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
	if _, err := ReadAnnotations(t.Context(), "nowhere.csv", AnnotationOptions{Items: 1}); err == nil {
		t.Error("a file that is not there: no error")
	}
	one := save(t, "a.csv", []byte("index,worker,label\n0,a,x\n"))
	if _, err := ReadAnnotations(t.Context(), one, AnnotationOptions{Items: 1}); !facts.Told(err,
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
		o := AnnotationOptions{Items: 3, Classes: []string{"x", "y"}}
		if c.ids {
			o.IDs, o.IDColumn = []string{"p", "q", "r"}, "customer"
		}
		a, err := ReadAnnotations(t.Context(), save(t, "a.csv", []byte(c.text)), o)
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
		a, err := ReadAnnotations(t.Context(), save(t, "a.csv", []byte(text)), AnnotationOptions{})
		if err != nil || !slices.Equal(a.Items, want) || !slices.Equal(a.Start, []int{0, 1, 3}) {
			t.Errorf("%q: got %+v, %v", text, a, err)
		}
	}
}

// An annotator may label an example twice, as in crowd tables of the wild: both labels count.
func TestRepeatedAnnotations(t *testing.T) {
	text := "row,worker,label\n1,a,x\n2,b,y\n1,a,y\n1,a,y\n"
	a, err := ReadAnnotations(t.Context(), save(t, "a.csv", []byte(text)),
		AnnotationOptions{Items: 2, Classes: []string{"x", "y"}})
	if err == nil {
		err = a.Check(2, 2)
	}
	if err != nil || a.Repeats() != 2 || !slices.Equal(a.Votes(1), []int32{1, 1}) {
		t.Fatalf("got %+v, %v", a, err)
	}
	if r, err := Fit(t.Context(), a, 1, Options{}); err != nil || r.Consensus[1] != 1 {
		t.Errorf("consensus: got %+v, %v", r, err)
	}
}

// Somebody whose labels are right: read, hashed, picked, and the only one who counts where there
// is a label.
func TestRightAnnotators(t *testing.T) {
	text := "index,worker,label\n0,a,x\n0,b,x\n0,chief,y\n1,a,y\n2,b,x\n2,chief,x\n2,boss,x\n"
	path := save(t, "a.csv", []byte(text))
	read := func(right ...string) *dataset.Annotations {
		a, err := ReadAnnotations(t.Context(), path, AnnotationOptions{Items: 3, Classes: []string{"x",
			"y"}, Right: right})
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
		_, err := ReadAnnotations(t.Context(), path, AnnotationOptions{Items: 3, Classes: []string{"x",
			"y"}, Right: right})
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

// Votes: the most frequent label, and ties by lot.
func TestVotes(t *testing.T) {
	a := &dataset.Annotations{Classes: []string{"x", "y", "z"}, Names: []string{"a", "b", "c"},
		Start: []int{0}}
	for range 300 {
		a.By, a.Label = append(a.By, 0, 1, 2), append(a.Label, 2, 0, 2)
		a.Start = append(a.Start, len(a.By))
		a.By, a.Label = append(a.By, 0, 1), append(a.Label, 1, 0)
		a.Start = append(a.Start, len(a.By))
	}
	y := a.Votes(1)
	var ties [3]int
	for i, k := range y {
		if i%2 == 0 && k != 2 {
			t.Fatalf("example %d: label %d, wanted 2", i, k)
		}
		if i%2 == 1 {
			ties[k]++
		}
	}
	if ties[0] < 110 || ties[1] < 110 || ties[2] > 0 {
		t.Errorf("ties between 0 and 1 became %v", ties)
	}
	if !slices.Equal(y, a.Votes(1)) {
		t.Error("another vote from the same seed")
	}
	a.Label[4] = 3
	if err := a.Check(600, 3); !facts.Told(err, "label 3") {
		t.Errorf("a label out of range: %v", err)
	}
}
