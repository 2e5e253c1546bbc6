package file

import (
	"strings"
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
	const relation = "% c\n\n@RELATION 'a b'\n@attribute x real\n@Attribute\ty  NUMERIC\n"
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
					[]string{"f:1: query numbers (qid:N) are ignored, here and in later lines"}
			})},
		{"query numbers without labels", "f", "qid:1 1:1 2:2\n? qid:1 1:3 2:4\n", Options{NoLabels: true},
			dataset.Dataset{
				Examples: examples(2, 1, 2, 3, 4),
				Found: dataset.Found{
					Notes: []string{"f:1: query numbers (qid:N) are ignored, here and in later " + "lines"}}}},

		{"arff", "f", relation + "@attribute class {b, 'a'}\n@DATA\n1,2,a\n% c\n\n 3 ,\t4, b \n",
			Options{}, named},
		{"arff forced, CRLF", "f.csv",
			strings.ReplaceAll(relation+"@attribute class string\n@data\n1,2,'a'\n3,4,\"b\"\n", "\n",
				"\r\n"), Options{Format: "arff"}, named},
		{"arff sparse", "f", relation + "@attribute class {b,a}\n@data\n{0 1, 1 2, 2 a}\n{ 0 3,1 4 }\n",
			Options{}, named},
		{"arff sparse, numeric label", "f.arff",
			"@attribute class integer\n@attribute 'x y' integer\n@data\n{0 1,1 5}\n{0 2}\n",
			Options{Table: Table{LabelColumn: "class"}, Storage: "dense"},
			dataset.Dataset{Examples: examples(1, 5, 0), Y: []int32{0, 1}, Classes: []string{"1", "2"},
				Features: []string{"x y"}, Found: dataset.Found{Label: "class", LabelColumn: 1}}},
		{"arff ignored text", "f", relation +
			"@attribute s string\n@attribute class {a,b}\n@data\n1,2,'it\\'s, %',a\n3,4,?,b\n",
			Options{Table: Table{Ignore: []string{"s"}}},
			with(func(d *dataset.Dataset) { *d = named; d.LabelColumn = 4 })},
		{"arff without labels", "f", relation + "@attribute class {a,b}\n@data\n1,2,?\n3,4,?\n",
			Options{NoLabels: true, Table: Table{LabelColumn: "class"}}, bare("x", "y")},
		{"arff zeros", "f", relation + "@attribute class {a,b}\n@data\n1e-40,-0,a\n{2 b}\n",
			Options{Storage: "dense"}, with(func(d *dataset.Dataset) {
				*d = named
				d.X, d.Subnormals = []float32{0, negativeZero, 0, 0}, 1
			})},
		{"keel", "f.dat", "@relation banana\n@attribute x real[-3.09,2.81]\n@attribute y real [-2.39, " +
			"3.19]\n@attribute class {a,b}\n@inputs x, y\n@outputs class\n@data\n1,2,a\n3,4,b\n", Options{},
			named},
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
	const relation = "@relation r\n@attribute x real\n"
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

		{"arff type", relation + "@attribute y decimal\n", Options{}, `f:3 "decimal" "y"`},
		{"arff name", relation + "@attribute\n", Options{}, `f:3 ""`},
		{"arff brace", relation + "@attribute y {a,b\n", Options{}, `f:3 "{a,b" closing }`},
		{"arff quote", relation + "@attribute 'y real\n", Options{}, "f:3 ' closing"},
		{"arff line", relation + "1,2\n", Options{}, `f:3 "1,2" @attribute @data %`},
		{"arff no data", relation, Options{}, "f @data"},
		{"arff no example", relation + "@attribute c {a,b}\n@data\n% \n", Options{}, "f example"},
		{"arff text feature", relation + "@attribute y {p,q}\n@attribute c {a,b}\n@data\n", Options{},
			"f:5 column 2 y"},
		{"arff without attributes", "@relation r\n@data\n", Options{Table: Table{LabelColumn: "first"}},
			"f:2 label"},
		{"arff without attributes", "@relation r\n@data\n", Options{NoLabels: true,
			Table: Table{Ignore: []string{"last"}}}, "f:2 label"},
		{"arff label", relation + "@attribute c {a,b}\n@data\n", Options{Table: Table{LabelColumn: "d"}},
			`f:4 "x" "c" "d"`},
		{"arff fields", relation + "@attribute c {a,b}\n@data\n1\n", Options{}, "f:5:2 1 fields 2"},
		{"arff missing", relation + "@attribute c {a,b}\n@data\n?,a\n", Options{}, `f:5:1 column 1 x "?" decimal`},
		{"arff NaN", relation + "@attribute c {a,b}\n@data\nNaN,a\n", Options{}, `f:5:1 column 1 x "NaN" finite`},
		{"arff unclosed", relation + "@attribute c {a,b}\n@data\n1,'a\n", Options{}, "f:5:3 ' closing"},
		{"arff after quote", relation + "@attribute c {a,b}\n@data\n1,'a'x\n", Options{}, `f:5:6 "x"`},
		{"arff sparse place", relation + "@attribute c {a,b}\n@data\n{2 1}\n", Options{}, `f:5:2 "2 1}" 0 1`},
		{"arff sparse open", relation + "@attribute c {a,b}\n@data\n{0 1, 1 b\n", Options{},
			"f:5:10 closing }"},
		{"arff sparse weight", relation + "@attribute c {a,b}\n@data\n{0 1, 1 b}, {2}\n", Options{}, `f:5:11 {2}" closing }`},
		{"arff sparse no label", relation + "@attribute c string\n@data\n{0 1}\n", Options{},
			"f:5:1 column 2 c"},
	} {
		t.Run(c.what, func(t *testing.T) {
			d, err := readText("f", c.text, c.o)
			if !facts.Told(err, c.want) {
				t.Errorf("got  %+v, %v\nwant %s", d, err, c.want)
			}
		})
	}
}
