package file

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// readText reads text as a file of that name.
func readText(name, text string, o Options) (*dataset.Dataset, error) {
	return readLimited(name, text, o, defaultLimits)
}

func readLimited(name, text string, o Options, l limits) (*dataset.Dataset, error) {
	return readInput(&input{ctx: context.Background(), path: name, limits: l,
		at: strings.NewReader(text), size: int64(len(text))}, o)
}

func pack(t *testing.T, texts ...string) string {
	t.Helper()
	var b bytes.Buffer
	for _, text := range texts {
		z := gzip.NewWriter(&b)
		if _, err := z.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// same compares what a reader gave with what was wanted, but for the hash, path and number of rows.
func same(t *testing.T, got *dataset.Dataset, want dataset.Dataset) {
	t.Helper()
	g := *got
	g.SHA256, g.Path, g.Format, g.Rows = "", "", "", 0
	if !reflect.DeepEqual(g, want) {
		t.Errorf("got  %+v\nwant %+v", g, want)
	}
	if err := got.CheckAll(t.Context()); err != nil {
		t.Error(err)
	}
	if got.SHA256 != got.Hash() {
		t.Errorf("SHA256 is %s, the content's hash %s", got.SHA256, got.Hash())
	}
}

func examples(d int, x ...float32) dataset.Examples {
	return dataset.Examples{N: len(x) / d, D: d, X: x}
}

func TestReadGood(t *testing.T) {
	ab := dataset.Dataset{Examples: examples(2, 1, 2, 3, 4), Y: []int32{0, 1},
		Classes: []string{"a", "b"}, Found: dataset.Found{LabelColumn: 3}}
	with := func(f func(*dataset.Dataset)) dataset.Dataset { d := ab; f(&d); return d }
	headed := with(func(d *dataset.Dataset) { d.Features, d.Label = []string{"x", "y"}, "class" })
	labelFirst := with(func(d *dataset.Dataset) { d.LabelColumn = 1 })
	numbered := with(func(d *dataset.Dataset) { d.Classes = []string{"5", "6"} })
	indexed := with(func(d *dataset.Dataset) { d.LabelColumn = 0 })
	zeros := dataset.Dataset{Examples: examples(3, 0, 0, 0, 0, 0, 7, 1, 0, 0), Y: []int32{1, 0, 1},
		Classes: []string{"-1", "+1"}}
	for _, c := range []struct {
		what, name, text string
		o                Options
		want             dataset.Dataset
	}{
		{"plain", "f.csv", "1,2,a\n3,4,b\n", Options{}, ab},
		{"no line end", "f.data", "1,2,a\n3,4,b", Options{}, ab},
		{"CRLF, BOM, blank lines, spaces", "f", "\ufeff\r\n 1, 2 , a\r\n  \r\n3,4\t,b \r\n\r\n",
			Options{}, with(func(d *dataset.Dataset) { d.Classes = []string{" a", "b "} })},
		{"tab", "f", "1\t2\ta\n3\t4\tb\n", Options{}, ab},
		{"semicolon", "f", "1;2;a\n3;4;b\n", Options{}, ab},
		{"tsv with commas", "f.tsv", "1\t2\ta,c\n3\t4\tb\n", Options{},
			with(func(d *dataset.Dataset) { d.Classes = []string{"a,c", "b"} })},
		{"tsv with times", "f.TSV.gz", "1\t2\t12:30\n3\t4\tb\n", Options{},
			with(func(d *dataset.Dataset) { d.Classes = []string{"12:30", "b"} })},
		{"quoted", "f", "\"1\",2,\"a\"\n3,\"4\",\"b\"", Options{}, ab},
		{"quoted comma in a tab file", "f", "\"x,x\"\ty\tclass\n1\t2\ta\n3\t4\tb\n", Options{},
			with(func(d *dataset.Dataset) { d.Features, d.Label = []string{"x,x", "y"}, "class" })},
		{"quoted quote and lines", "f", "\"x\r\n\"\"z\",y,class\n1,2,a\n3,4,b\n", Options{},
			with(func(d *dataset.Dataset) { d.Features, d.Label = []string{"x\n\"z", "y"}, "class" })},
		{"header", "f", "x,y,class\n1,2,a\n3,4,b\n", Options{}, headed},
		{"label named", "f", "class,x,y\na,1,2\nb,3,4\n", Options{Table: Table{LabelColumn: "class"}},
			with(func(d *dataset.Dataset) {
				d.Features, d.Label, d.LabelColumn = []string{"x", "y"}, "class",
					1
			})},
		{"label first", "f", "a,1,2\nb,3,4\n", Options{Table: Table{LabelColumn: "first"}}, labelFirst},
		{"label by position", "f", "1,a,2\n3,b,4\n", Options{Table: Table{LabelColumn: "2"}},
			with(func(d *dataset.Dataset) { d.LabelColumn = 2 })},
		{"position, no header though a value equals it", "f", "1,3,5\n3,4,6\n",
			Options{Table: Table{LabelColumn: "3"}}, dataset.Dataset{
				Examples: examples(2, 1, 3, 3, 4), Y: []int32{0, 1}, Classes: []string{"5", "6"},
				Found: dataset.Found{LabelColumn: 3}}},
		{"name wins over position", "f", "3,x,y\na,1,2\nb,3,4\n", Options{Table: Table{LabelColumn: "3"}},
			with(func(d *dataset.Dataset) {
				d.Features, d.Label, d.LabelColumn = []string{"x", "y"}, "3",
					1
			})},
		{"position, a value equals it and the label is a word", "f", "2,a\n3,b\n",
			Options{Table: Table{LabelColumn: "2"}},
			dataset.Dataset{Examples: examples(1, 2, 3), Y: []int32{0, 1}, Classes: []string{"a", "b"},
				Found: dataset.Found{LabelColumn: 2}}},
		{"name beyond the width", "f", "x,y,2019\n1,2,a\n3,4,b\n",
			Options{Table: Table{LabelColumn: "2019"}},
			with(func(d *dataset.Dataset) { d.Features, d.Label = []string{"x", "y"}, "2019" })},
		{"last is no name", "f", "last,y,class\n1,2,a\n3,4,b\n",
			Options{Table: Table{LabelColumn: "last"}},
			with(func(d *dataset.Dataset) { d.Features, d.Label = []string{"last", "y"}, "class" })},
		{"numbers as header, label named", "f", "0,1,class\n1,2,a\n3,4,b\n",
			Options{Table: Table{LabelColumn: "class"}},
			with(func(d *dataset.Dataset) { d.Features, d.Label = []string{"0", "1"}, "class" })},
		{"header forced", "f", "0,1,2\n1,2,a\n3,4,b\n", Options{Table: Table{Header: "yes"}},
			with(func(d *dataset.Dataset) { d.Features, d.Label = []string{"0", "1"}, "2" })},
		{"header names that begin with digits", "f", "class,1x1,1x2\na,1,2\nb,3,4\n",
			Options{Table: Table{LabelColumn: "first"}}, with(func(d *dataset.Dataset) {
				d.Features, d.Label, d.LabelColumn = []string{"1x1", "1x2"}, "class",
					1
			})},
		{"header with an empty name", "f", ",y,class\n1,2,a\n3,4,b\n", Options{},
			with(func(d *dataset.Dataset) { d.Features, d.Label = []string{"", "y"}, "class" })},
		{"integer classes", "f", "1,2,5\n3,4,6\n", Options{}, numbered},
		{"classes given", "f", "1,2,a\n3,4,b\n", Options{Classes: []string{"b", "z", "a"}},
			with(func(d *dataset.Dataset) { d.Classes, d.Y = []string{"b", "z", "a"}, []int32{2, 0} })},
		{"classes given, one found", "f", "1,2,a\n3,4,a\n", Options{Classes: []string{"a", "b"}},
			with(func(d *dataset.Dataset) { d.Y = []int32{0, 0} })},
		{"no labels", "f", "x,y\n1,2\n3,4\n", Options{NoLabels: true, Features: 2},
			dataset.Dataset{Examples: examples(2, 1, 2, 3, 4), Features: []string{"x", "y"}}},
		{"subnormal and -0", "f", "1e-40,-0,a\n-1e-45,1e-50,b\n", Options{},
			with(func(d *dataset.Dataset) {
				d.X, d.Subnormals = []float32{0, float32(math.Copysign(0, -1)), 0, 0}, 2
			})},
		{"gzip whatever the name", "f.csv", pack(t, "1,2,a\n3,4,b\n"), Options{}, ab},
		{"gzip in members, cut within a line", "f.gz", pack(t, "1,2,a\n3,", "", "4,b\n"), Options{}, ab},
		{"plain named gz", "f.csv.gz", "1,2,a\n3,4,b\n", Options{}, ab},
		{"gzip with BOM", "f", pack(t, "\ufeff1,2,a\n3,4,b\n"), Options{}, ab},

		{"libsvm", "f", "a 1:1 2:2\nb 1:3 2:4\n", Options{}, indexed},
		{"libsvm named csv", "f.csv", "a 1:1 2:2\nb 1:3 2:4\n", Options{}, indexed},
		{"libsvm comments, CRLF, tabs", "f", "# made\r\n\r\n a\t1:1  2:2 # x:y\r\nb 1:3 2:4#\r\n  # end",
			Options{}, indexed},
		{"libsvm zeros", "f", "+1\n-1 3:7\n+1 1:1\n", Options{}, zeros},
		{"libsvm by name", "f.SVM.gz", "+1\n-1 3:7\n+1 1:1\n", Options{}, zeros},
		{"libsvm width given", "f", "a 1:1\nb 1:3\n", Options{Features: 2},
			with(func(d *dataset.Dataset) {
				d.X, d.LabelColumn = []float32{1, 0, 3, 0}, 0
				d.Notes = []string{"f: the highest feature index is 1 of 2; the other features are zero"}
			})},
		{"libsvm only zeros, width given", "f.svm", "a\nb\n", Options{Features: 2, Storage: "dense"},
			with(func(d *dataset.Dataset) {
				d.X, d.LabelColumn = make([]float32, 4), 0
				d.Notes = []string{"f.svm: found no index:value; all 2 features are zero"}
			})},
		{"libsvm without labels", "f", "1:1 2:2\n1:3 2:4\n", Options{NoLabels: true},
			dataset.Dataset{Examples: examples(2, 1, 2, 3, 4)}},
		{"libsvm one value without labels", "f", "1:1\n1:3\n", Options{NoLabels: true},
			dataset.Dataset{Examples: examples(1, 1, 3)}},
		{"libsvm labels passed over", "f", "a 1:1 2:2\n1:3 2:4\n", Options{NoLabels: true},
			dataset.Dataset{Examples: examples(2, 1, 2, 3, 4)}},
		{"libsvm subnormal", "f", "a 1:1e-40\nb 1:3\n", Options{},
			dataset.Dataset{Examples: examples(1, 0, 3),
				Y: []int32{0, 1}, Classes: []string{"a", "b"}, Found: dataset.Found{Subnormals: 1}}},
		{"csv asked for", "f.svm", "1,2,a\n3,4,b\n", Options{Format: "csv"}, ab},
	} {
		t.Run(c.what, func(t *testing.T) {
			d, err := readText(c.name, c.text, c.o)
			if err != nil {
				t.Fatal(err)
			}
			same(t, d, c.want)
			if d.Path != c.name {
				t.Errorf("Path = %q", d.Path)
			}
		})
	}
}

func TestReadBad(t *testing.T) {
	long := strings.Repeat("7", 60) + "x"
	const good = "1,2,a\n3,4,b\n"
	gz := pack(t, strings.Repeat(good, 5000))
	for _, c := range []struct {
		what, name, text string
		o                Options
		want             string
	}{
		{"empty", "f.csv", "", Options{}, "f.csv example"},
		{"blank", "f.csv", "\n \r\n", Options{}, "f.csv example"},
		{"empty gzip", "f", pack(t, ""), Options{}, "f example"},
		{"header only", "f", "\nx,y\n", Options{}, "f line 2"},
		{"one class", "f", "1,a\n2,a\n", Options{}, `f "a" 2 examples`},
		{"ragged, short", "f", good + "5,6\n", Options{}, "f:3:4 2 fields 3 line 1"},
		{"ragged, long", "f", good + "\n5,6,a,\n", Options{}, "f:4:7 4 fields 3 line 1"},
		{"junk", "f", good + "5,6z,a\n", Options{}, `f:3:3 column 2 "6z" decimal`},
		{"junk in line 1", "f", "1,?,a\n" + good, Options{}, `f:1:3 column 2 "?" decimal`},
		{"header refused", "f", "x,y,a\n" + good, Options{Table: Table{Header: "no"}},
			`f:1:1 column 1 "x" decimal`},
		{"junk under a name", "f", "x,y,class\n" + good + "5,6z,a\n", Options{}, `f:4:3 column 2 y "6z"`},
		{"long junk", "f", good + long + ",6,a\n", Options{}, `f:3:1 column 1 "` + long[:40] + `"…`},
		{"missing", "f", good + "5,,a\n", Options{}, `f:3:3 column 2 empty ""`},
		{"missing in line 1", "f", ",2,a\n" + good, Options{}, `f:1:1 column 1 empty ""`},
		{"nan", "f", good + "NaN,6,a\n", Options{}, `f:3:1 column 1 "NaN" finite`},
		{"nan in line 1", "f", "nan,inf,a\n" + good, Options{}, `f:1:1 column 1 "nan" finite`},
		{"inf", "f", good + "5,-inf,a\n", Options{}, `f:3:3 column 2 "-inf" finite`},
		{"range", "f", good + "5,1e39,a\n", Options{}, `f:3:3 column 2 "1e39" float32`},
		{"bad UTF-8", "f", good + "5,6,\xff\n", Options{}, `f:3:5 column 3 "\xff" UTF-8`},
		{"line end in label", "f", good + "5,6,\"a\nb\"\n", Options{}, `f:3:5 column 3 "a\nb"`},
		{"quote not closed", "f", good + "5,6,\"a\n7,8,b\n", Options{}, "f:3:5 column 3 closing"},
		{"behind a quote", "f", good + "\"5\"x,6,a\n", Options{}, `f:3:4 column 1 "x,6,a" closing`},
		{"quote within", "f", good + "5,6,a\"b\n", Options{}, `f:3:6 column 3 "a\"b"`},
		{"label only", "f", "a\nb\n", Options{}, "f:1 label"},
		{"no such name", "f", "x,y,z\n" + good, Options{Table: Table{LabelColumn: "class"}},
			`f:1 "x" "y" "z" "class"`},
		{"name without header", "f", good, Options{Table: Table{LabelColumn: "class"}}, `f:1 "class"`},
		{"name twice", "f", "class,x,class\n", Options{Table: Table{LabelColumn: "class"}},
			`f:1 "class"`},
		{"number name twice", "f", "1,x,1\n", Options{Table: Table{LabelColumn: "1", Header: "yes"}},
			`f:1 "1"`},
		{"position too high", "f", good, Options{Table: Table{LabelColumn: "4"}}, `f:1 3 columns "4"`},
		{"position 0", "f", good, Options{Table: Table{LabelColumn: "0"}}, `f:1 3 columns "0"`},
		{"huge position", "f", good, Options{Table: Table{LabelColumn: "99999999999999999999999"}}, "f:1 3 columns"},
		{"width", "f", "x,y,c\n" + good, Options{Features: 3}, "f:1 2 feature 3"},
		{"unknown class", "f", good + "5,6,c\n", Options{Classes: []string{"a", "b"}}, `f:3:5 column 3 "c" 2 "a" "b"`},
		{"given twice", "f", good, Options{Classes: []string{"a", "a"}}, `"a" twice`},
		{"header choice", "f", good, Options{Table: Table{Header: "maybe"}}, `"maybe"`},
		{"format", "f", good, Options{Format: "foo"}, `"foo"`},
		{"features", "f", good, Options{Features: -1}, "-1 features"},
		{"gzip cut short", "f", gz[:len(gz)/2], Options{}, "cut EOF"},
		{"gzip without its end", "f", gz[:len(gz)-4], Options{}, "f:10001 cut"},
		{"gzip header cut", "f", gz[:5], Options{}, "f:1 cut"},
		{"gzip checksum", "f", gz[:len(gz)-6] + "xx" + gz[len(gz)-4:], Options{}, "f:10001 checksum"},
		{"gzip junk behind", "f", pack(t, good) + "junk", Options{}, "f:3 gzip"},

		{"libsvm index 0", "f", "a 1:1\nb 0:1 1:2\n", Options{}, "f:2:3 index 0 1 0"},
		{"libsvm twice", "f", "a 1:1\nb 3:1 3:2\n", Options{}, "f:2:7 index 3 twice increasing"},
		{"libsvm decreasing", "f", "a 1:1\nb 3:1 2:2\n", Options{}, "f:2:7 index 2 3 increasing"},
		{"libsvm junk", "f", "a 1:1\nb 3:1 x\n", Options{}, `f:2:7 "x" index:value 1`},
		{"libsvm qid later", "f", "a 1:1\nb 1:2 qid:3\n", Options{}, `f:2:7 "qid:3" index:value`},
		{"libsvm negative", "f", "a 1:1\nb -1:2\n", Options{}, `f:2:3 "-1:2" index:value`},
		{"libsvm huge index", "f", "a 1:1\nb 2147483648:2\n", Options{}, `f:2:3 "2147483648:2" index:value 1 2147483647`},
		{"libsvm huger index", "f", "a 1:1\nb 99999999999999999999999:2\n", Options{}, `f:2:3 "99999999999999999999999:2" index:value`},
		{"libsvm space", "f", "a 1:1\nb 1: 2\n", Options{}, `f:2:5 feature 1 empty ""`},
		{"libsvm number", "f", "a 1:1\nb 1:2,5\n", Options{}, `f:2:5 feature 1 "2,5" decimal`},
		{"libsvm nan", "f", "a 1:1\nb 1:nan\n", Options{}, `f:2:5 feature 1 "nan" finite`},
		{"libsvm inf", "f", "a 1:1\nb 1:INF\n", Options{}, `f:2:5 feature 1 "INF" finite`},
		{"libsvm no label", "f", "1:1 2:2\n", Options{}, `f:1:1 "1:1"`},
		{"libsvm labels", "f", "a 1:1\na,b 1:2\n", Options{}, `f:2:1 "a,b"`},
		{"libsvm csv", "f.svm", good, Options{}, `f.svm:1:1 "1,2,a" CSV`},
		{"libsvm beyond the model", "f", "a 1:1\nb 5:1\n", Options{Features: 4}, "f:2:3 index 5 4"},
		{"libsvm unknown class", "f", "a 1:1\nc 1:1\n", Options{Classes: []string{"a", "b"}}, `f:2:1 "c" 2`},
		{"libsvm one class", "f", "a 1:1\na 1:2\n", Options{}, `f "a" 2 examples`},
		{"libsvm no feature", "f.svm", "a\nb\n", Options{}, "f.svm index:value 2 examples"},
		{"libsvm comments only", "f.svm", "# a\n#\n", Options{}, "f.svm example"},
		{"libsvm dense bomb", "f", "a 1:1\n1 2000000000:1\n", Options{Storage: "dense"},
			"f 2 examples × 2000000000 features line 2 16000000000 bytes 21 bytes 1073741824"},
		{"libsvm dense bomb by rows", "f", strings.Repeat("a\n", 1<<20) + "b 2147483647:1\n",
			Options{Format: "libsvm", Storage: "dense"}, "9007207840481276 bytes"},
	} {
		t.Run(c.what, func(t *testing.T) {
			d, err := readText(c.name, c.text, c.o)
			if err == nil {
				t.Fatalf("read %+v, wanted an error with %q", d, c.want)
			}
			if !facts.Told(err, c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestReadLongLine(t *testing.T) {
	l := defaultLimits
	l.line = 3 << 20
	row := strings.Repeat("1.25,", 1<<18) // longer than the read buffer
	d, err := readLimited("f", row+"a\n"+row+"b\n", Options{}, l)
	if err != nil {
		t.Fatal(err)
	}
	if d.N != 2 || d.D != 1<<18 || d.Row(1)[d.D-1] != 1.25 || d.Y[1] != 1 {
		t.Errorf("read %d×%d", d.N, d.D)
	}
	_, err = readLimited("f", "1,a\n"+row+row+row+"a\n", Options{}, l)
	if want := "f:2 3145728 bytes"; !facts.Told(err, want) {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = readLimited("f", "1,a\n2,\"b\n"+strings.Repeat("1,a\n", 1<<20), Options{}, l)
	if want := "f:2:3 column 2 closing"; !facts.Told(err, want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestReadFiles(t *testing.T) {
	dir := t.TempDir()
	if _, err := Read(t.Context(), dir, Options{}); !facts.Told(err, "directory data file") {
		t.Errorf("directory: %v", err)
	}
	missing := filepath.Join(dir, "none.csv")
	if _, err := Read(t.Context(), missing, Options{}); !errors.Is(err, fs.ErrNotExist) ||
		!facts.Told(err, missing) {
		t.Errorf("missing file: %v", err)
	}
	path := filepath.Join(dir, "f.csv.gz")
	if err := os.WriteFile(path, []byte(pack(t, "1,a\n2,b\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := Read(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, d, dataset.Dataset{Examples: examples(1, 1, 2), Y: []int32{0, 1},
		Classes: []string{"a", "b"}, Found: dataset.Found{LabelColumn: 2}})
}
