package crowd

import (
	"reflect"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

func TestReadAnnotations(t *testing.T) {
	want := &Annotations{
		Classes: []string{"x", "y", "z"}, Names: []string{"ann", "bob", "eve"},
		Start: []int{0, 2, 3, 5}, By: []int32{0, 1, 1, 0, 2}, Label: []int32{2, 0, 1, 0, 0},
	}
	for name, text := range map[string]string{
		"plain":     "item,worker,label\n1,ann,z\n1,bob,x\n2,bob,y\n3,ann,x\n3,eve,x\n",
		"any order": "label,item,worker\nx,3,eve\ny,2,bob\nz,1,ann\nx,1,bob\nx,3,ann\n",
		"other words, more": "\ufefftask,when,annotator,label\r\n3,-,eve,x\r\n" +
			"2,-,bob,y\r\n1,-,ann,z\r\n1,-,bob, x\r\n3,-,ann,x\r\n",
	} {
		for _, data := range [][]byte{[]byte(text), gzipped(t, []byte(text))} {
			got, err := ReadAnnotations(t.Context(), save(t, "a.csv", data), AnnotationOptions{Items: 3,
				Classes: want.Classes})
			if err != nil || !reflect.DeepEqual(got.Annotations, want) {
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
	text := "item,worker,label\n1,ann,z\n1,bob,x\n2,bob,y\n3,ann,x\n3,eve,x\n"
	got, err := ReadAnnotations(t.Context(), save(t, "a.csv", []byte(text)),
		AnnotationOptions{Items: 3})
	if err != nil || !slices.Equal(got.Classes, []string{"z", "x", "y"}) {
		t.Fatalf("classes %v, %v", got.Classes, err)
	}
	if err := got.Arrange(want.Classes); err != nil || !reflect.DeepEqual(got.Annotations, want) {
		t.Errorf("arranged: %+v, %v", got, err)
	}
	if err := got.Arrange([]string{"x", "y"}); !facts.Told(err, `"z"`) {
		t.Errorf("arranged by other names: %v", err)
	}
}

// Tables as people have them: examples without a label, repeated labels, ids, a column for each
// annotator.
func TestReadAnnotationsAsTheyCome(t *testing.T) {
	ids := []string{"u1", "u2", "u3"}
	for _, c := range []struct {
		text     string
		o        AnnotationOptions
		by       []int32
		rows     []int
		items    []string
		repeated int
	}{
		{"item,worker,label\n3,a,x\n1,b,y\n3,a,y\n3,a,y\n", AnnotationOptions{Items: 3},
			[]int32{1, 0, 0, 0}, []int{0, 2}, nil, 2},
		{"id,worker,label\nu3,a,x\nu1,b,y\nu2,a,x\n", AnnotationOptions{Items: 3, IDs: ids},
			[]int32{1, 0, 0}, nil, nil, 0},
		{"example,key,worker,label\n9,u3,a,x\n9,u1,b,y\n", AnnotationOptions{Items: 3, IDs: ids,
			IDColumn: "key"}, []int32{1, 0}, []int{0, 2}, nil, 0},
		{"example,worker,label\n3,a,x\n2,b,y\n", AnnotationOptions{Items: 3, IDs: ids},
			[]int32{1, 0}, []int{1, 2}, nil, 0},
		{",ann,bob\n0,x,y\n1,,\n2,,x\n", AnnotationOptions{Items: 3}, []int32{0, 1, 1}, []int{0, 2}, nil,
			0},
		{"task,ann,bob\nb,x,y\na,,\nc,,x\n", AnnotationOptions{}, []int32{0, 1, 1}, nil,
			[]string{"b", "c"}, 0},
		{"item,worker,label\n10,a,x\n0,b,y\n", AnnotationOptions{}, []int32{1, 0}, nil,
			[]string{"0", "10"}, 0},
	} {
		got, err := ReadAnnotations(t.Context(), save(t, "a.csv", []byte(c.text)), c.o)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if err := got.Check(got.N(), 2); err != nil || !slices.Equal(got.By, c.by) ||
			!slices.Equal(got.Rows, c.rows) || !slices.Equal(got.Items, c.items) ||
			got.Repeated != c.repeated {
			t.Errorf("%q: %+v, %v; wanted %+v", c.text, got, err, c)
		}
	}
	for text, want := range map[string]string{
		"id,worker,label\nu4,a,x\n":  `a.csv:2 "u4"`,
		"ann,bob\nx,y\n":             "1 rows 3 examples",
		"ann,bob\nx,y\n,\n,x\nx,x\n": "a.csv:5 4 3",
		"ann,ann\nx,y\n":             `a.csv:1 "ann"`,
		"example,label\n1,x\n":       "a.csv:1 worker",
	} {
		_, err := ReadAnnotations(t.Context(), save(t, "a.csv", []byte(text)), AnnotationOptions{Items: 3,
			IDs: ids})
		if !facts.Told(err, want) {
			t.Errorf("%q: %v, wanted %s", text, err, want)
		}
	}
}

func TestReadAnnotationsRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "a.csv:1 text"},
		{"item,worker\n", `a.csv:1 "item,worker"`},
		{"item,worker,label,worker\n", `a.csv:1 "worker"`},
		{"item,worker,label\n1,a\n", "a.csv:2 2 fields 3"},
		{"item,worker,label\n1,a,x\n4,a,x\n", `a.csv:3 "4" example 1 3`},
		{"item,worker,label\nq,a,x\n", `a.csv:2 "q"`},
		{"item,worker,label\n-1,a,x\n", `a.csv:2 "-1"`},
		{"item,worker,label\n1,,x\n", "a.csv:2 name"},
		{"item,worker,label\n1,a,w\n", `a.csv:2 "w" "x" "y"`},
		{"item,worker,label\n1,\"a,x\n", "a.csv:2 CSV"},
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
	one := save(t, "a.csv", []byte("item,worker,label\n1,a,x\n"))
	if _, err := ReadAnnotations(t.Context(), one, AnnotationOptions{Items: 1}); !facts.Told(err,
		"2") {
		t.Errorf("a table of one class: %v", err)
	}
}

// Somebody whose labels are right: read, hashed, picked, and the only one who counts where there
// is a label.
func TestRightAnnotators(t *testing.T) {
	text := "item,worker,label\n1,a,x\n1,b,x\n1,chief,y\n2,a,y\n3,b,x\n3,chief,x\n3,boss,x\n"
	path := save(t, "a.csv", []byte(text))
	read := func(right ...string) *Annotations {
		a, err := ReadAnnotations(t.Context(), path, AnnotationOptions{Items: 3, Classes: []string{"x",
			"y"}, Right: right})
		if err == nil {
			err = a.Check(3, 2)
		}
		if err != nil {
			t.Fatal(err)
		}
		return a.Annotations
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
		`"eve" "a" "b"`: {"chief", "eve"},
		`a.csv:4 item 1 "y" "chief" "x" "a" line 2`: {"a", "chief"},
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
	a := &Annotations{Classes: []string{"x", "y", "z"}, Names: []string{"a", "b", "c"},
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
