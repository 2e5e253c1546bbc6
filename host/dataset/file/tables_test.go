package file

import (
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

func TestReadTables(t *testing.T) {
	ab := dataset.Dataset{Examples: examples(2, 1, 2, 3, 4), Y: []int32{0, 1},
		Classes: []string{"a", "b"}, Found: dataset.Found{LabelColumn: 3}}
	with := func(f func(*dataset.Dataset)) dataset.Dataset { d := ab; f(&d); return d }
	named := with(func(d *dataset.Dataset) { d.Features, d.Label = []string{"x", "y"}, "class" })
	bare := func(names ...string) dataset.Dataset {
		d := dataset.Dataset{Examples: examples(2, 1, 2, 3, 4)}
		if names != nil {
			d.Features = names
		}
		return d
	}
	for _, c := range []struct {
		what, name, text string
		o                Options
		want             dataset.Dataset
	}{
		{"ignored by name", "f", "id,x,y,class\nq,1,2,a\nr,3,4,b\n",
			Options{Table: Table{Ignore: []string{"id"}}},
			with(func(d *dataset.Dataset) { *d = named; d.LabelColumn = 4 })},
		{"ignored by position", "f", "q,1,2,a\nr,3,4,b\n",
			Options{Table: Table{Ignore: []string{" first "}}},
			with(func(d *dataset.Dataset) { d.LabelColumn = 4 })},
		{"ignored, several, twice", "f", "1,?,2,\"x,\",a\n3,,4,y,b\n",
			Options{Table: Table{Ignore: []string{"2", "4", "2"}}},
			with(func(d *dataset.Dataset) { d.LabelColumn = 5 })},
		{"ignored makes a header certain", "f", "1,2,id,class\n1,2,x,a\n3,4,x,b\n",
			Options{Table: Table{Ignore: []string{"id"}}},
			with(func(d *dataset.Dataset) {
				d.Features, d.Label, d.LabelColumn = []string{"1", "2"}, "class",
					4
			})},
		{"ignored name that is a number", "f", "x,7,y,class\n1,?,2,a\n3,?,4,b\n",
			Options{Table: Table{Ignore: []string{"7"}}},
			with(func(d *dataset.Dataset) { *d = named; d.LabelColumn = 4 })},
		{"label before features, last ignored", "f", "a,1,2,z\nb,3,4,z\n",
			Options{Table: Table{LabelColumn: "first", Ignore: []string{"last"}}},
			with(func(d *dataset.Dataset) { d.LabelColumn = 1 })},
		{"no labels, placeholder passed over", "f", "x,y,class\n1,2,?\n3,4,?\n", Options{NoLabels: true,
			Table: Table{LabelColumn: "class"}}, bare("x", "y")},
		{"no labels, placeholder in a bare file", "f", "?,1,2\n,3,4\n", Options{NoLabels: true,
			Table: Table{LabelColumn: "first"}}, bare()},
		{"no labels, width of the model says there is none", "f", "1,2\n3,4\n", Options{NoLabels: true,
			Table: Table{LabelColumn: "last"}, Features: 2}, bare()},
		{"no labels, width of the model says there is one", "f", "1,2,?\n3,4,?\n", Options{NoLabels: true,
			Table: Table{LabelColumn: "last"}, Features: 2}, bare()},
		{"no labels, label ignored as well", "f", "1,2,?\n3,4,?\n", Options{NoLabels: true,
			Table: Table{LabelColumn: "last", Ignore: []string{"3"}}}, bare()},

		{"zero-based", "f", "a 0:1 1:2\nb 0:3 1:4\n", Options{ZeroBased: true},
			with(func(d *dataset.Dataset) { d.LabelColumn = 0 })},
		{"zero-based, note", "f", "a 0:1 1:2\nb 0:3 1:4\n", Options{ZeroBased: true, Features: 3,
			Storage: "dense"}, with(func(d *dataset.Dataset) {
			d.Examples, d.LabelColumn = examples(3, 1, 2, 0, 3, 4, 0), 0
			d.Notes = []string{"f: the highest feature index is 1 of 2; the other features are zero"}
		})},
		{"query numbers", "f", "a qid:1 1:1 2:2 # x\nb\tqid:99999999999999  1:3 2:4\n", Options{},
			with(func(d *dataset.Dataset) {
				d.LabelColumn, d.Notes = 0,
					[]string{"f: query numbers (qid:N) are ignored, in line 1 and later ones"}
			})},
		{"query numbers without labels", "f", "qid:1 1:1 2:2\n? qid:1 1:3 2:4\n", Options{NoLabels: true},
			dataset.Dataset{
				Examples: examples(2, 1, 2, 3, 4),
				Found: dataset.Found{
					Notes: []string{"f: query numbers (qid:N) are ignored, in line 1 and later ones"}}}},
	} {
		t.Run(c.what, func(t *testing.T) {
			d, err := readText(c.name, c.text, c.o)
			if err != nil {
				t.Fatal(err)
			}
			same(t, d, c.want)
		})
	}
}

func TestReadTablesBad(t *testing.T) {
	for _, c := range []struct {
		what, text string
		o          Options
		want       string
	}{
		{"ignored name", "x,y,c\n1,2,a\n", Options{Table: Table{Ignore: []string{"z"}}},
			`f:1 "x" "y" "c" "z"`},
		{"ignored position", "1,2,a\n", Options{Table: Table{Ignore: []string{"4"}}}, `f:1 3 columns "4"`},
		{"ignored label", "1,2,a\n", Options{Table: Table{Ignore: []string{"3"}}}, `f:1 "last"`},
		{"all ignored", "1,2,a\n", Options{Table: Table{Ignore: []string{"1", "2"}}}, "f:1 3 columns"},
		{"ignored twice named", "x,x,c\n1,2,a\n", Options{Table: Table{Ignore: []string{"x"}}},
			`f:1 "x"`},
		{"ignored in LIBSVM", "a 1:1\n", Options{Format: "libsvm", Table: Table{Ignore: []string{"1"}}},
			"f leave"},
		{"placeholder, width", "1,2,?,?\n", Options{NoLabels: true, Table: Table{LabelColumn: "last"},
			Features: 2}, "f:1 3 feature 2"},
	} {
		t.Run(c.what, func(t *testing.T) {
			d, err := readText("f", c.text, c.o)
			if !facts.Told(err, c.want) {
				t.Errorf("got  %+v, %v\nwant %s", d, err, c.want)
			}
		})
	}
}
