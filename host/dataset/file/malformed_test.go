package file

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// A single malformed row among many, wherever it is, is an error that names its place and
// --skip-bad. With that it is skipped, and the other rows keep their numbers.
func TestMalformedRows(t *testing.T) {
	const n = 100
	for _, c := range []struct{ what, row, want string }{ // want: of the error behind the line
		{"a field too many", "1,red,a,b", ":9 4 fields 3 line 1"},
		{"a field too few", "1,red", ":6 2 fields 3 line 1"},
		{"a label alone", "a", ":2 1 fields 3 line 1"},
		{"a broken quote", `1,"red"s,a`, `:8 column 2 "s,a" closing quote`},
		{"an impossible label", "1,red,a\x01b", `:7 column 3 kind label "a\x01b" control character`},
	} {
		for _, at := range []int{0, n / 2, n - 1} {
			for _, numbers := range []bool{false, true} {
				row := func(i int) string {
					switch {
					case i == at && numbers:
						return strings.Replace(c.row, "red", "123", 1)
					case i == at:
						return c.row
					case numbers:
						return fmt.Sprintf("%d.5,%d,%c", i%7, i%5, 'a'+i%2)
					}
					return fmt.Sprintf("%d.5,%s,%c", i%7, []string{"red", "blue"}[i%2], 'a'+i%3%2)
				}
				for _, missing := range []string{dataset.MissingAuto, dataset.MissingError} {
					what := fmt.Sprintf("%s in row %d, numbers %v, missing %s", c.what, at, numbers, missing)
					o := Options{Table: Table{Encode: &features.EncodeOptions{Missing: missing}}}
					text := "x,colour,kind\n" + lines(n, row)
					_, err := readText("f", text, o)
					want := fmt.Sprintf("f:%d%s skip-bad=1", at+2, c.want)
					if !facts.Told(err, want) {
						t.Errorf("%s: %v\nwanted %s", what, err, want)
					}
					o.SkipBad = math.MaxInt
					d, err := readText("f", text, o)
					if err != nil {
						t.Errorf("%s, skipped: %v", what, err)
						continue
					}
					if d.N != n-1 || !slices.Equal(d.SkippedAt, []int{at + 2}) {
						t.Errorf("%s: %d examples, skipped %v", what, d.N, d.SkippedAt)
					}
					for i := range d.N {
						if row := d.SourceRow(i); row != i && i < at || row != i+1 && i >= at {
							t.Fatalf("%s: example %d is of row %d", what, i, row)
						}
					}
				}
			}
		}
	}
}

// A row without a label is an example of which nothing is known, however many there are, unless no
// row has one; it keeps its place in an .npz and in a CSV.
func TestRowsWithoutLabel(t *testing.T) {
	for _, row := range []string{"1,red,%s", "1,2,%s"} {
		text := "x,colour,kind\n" + lines(30, func(i int) string {
			return fmt.Sprintf(row, []string{"", "a", "", "NA", "b", " "}[i%6])
		})
		d, err := readText("f", text, lenientOptions())
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"f.npz", "f.csv"} {
			path := filepath.Join(t.TempDir(), name)
			if err := Write(t.Context(), path, d, WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			again, err := Read(t.Context(), path, Options{})
			if err != nil || again.SHA256 != d.SHA256 {
				t.Errorf("%s: another hash, %v", name, err)
			}
		}
		none := dataset.WithoutLabel(d)
		if d.N != 30 || len(d.SkippedAt) != 0 || len(none) != 20 || none[0] != 0 || none[19] != 29 ||
			dataset.LabelOf(d, 1) != 0 ||
			dataset.LabelOf(d, 28) != 1 || dataset.LabelOf(d, 3) != dataset.Unlabelled {
			t.Errorf("found %d examples, %v without a label", d.N, none)
		}
		path := filepath.Join(t.TempDir(), "f.svm")
		if err := Write(t.Context(), path, d, WriteOptions{}); !facts.Told(err, "f.svm row 1 label") {
			t.Errorf("a LIBSVM file: %v", err)
		}
		text = "x,colour,kind\n" + lines(5, func(int) string { return fmt.Sprintf(row, "") })
		if _, err = readText("f", text, lenientOptions()); !facts.Told(err, "f no label 5 examples") {
			t.Errorf("no row has a label: %v", err)
		}
	}
}

// Equal names of features are kept apart, also from a name that looks made.
func TestEqualNames(t *testing.T) {
	d, err := readText("f", "x,x,x.1,x,kind\n1,2,3,4,a\n5,6,7,9,b\n", lenientOptions())
	if err != nil || fmt.Sprint(d.Features) != "[x x.2 x.1 x.3]" {
		t.Errorf("found %v, %v", d, err)
	}
}

func lenientOptions() Options {
	return Options{Table: Table{Encode: &features.EncodeOptions{Missing: dataset.MissingAuto}}}
}

// Quotes hold blanks together, and labels of an array beyond 63 bits keep their sign.
func TestBlanksAndLargeLabels(t *testing.T) {
	d, err := readText("f", "\"a  b\" 1 p\n\"c d\" 2 q\n", Options{Table: Table{Separator: "blanks",
		IDColumn: "1", Header: "no"}})
	if err != nil || fmt.Sprintf("%q %v", d.IDs, d.X) != `["a  b" "c d"] [1 2]` {
		t.Errorf("got %+v, %v", d, err)
	}
	raw := []byte{5, 0, 0, 0, 0, 0, 0, 0x80}
	u64 := npyfile.Type{Kind: 'u', Size: 8}
	if text, err := appendLabel(u64, nil, raw); err != nil || string(text) != "9223372036854775813" {
		t.Errorf("got %s, %v", text, err)
	}
}

// Weights and candidate classes are of their rows, and weights are no less than 0.
func TestWeightsAndCandidates(t *testing.T) {
	o := Options{Table: Table{WeightColumn: "w"}, LabelRules: LabelRules{Between: "|"}}
	d, err := readText("f.csv", "a,w,y\n1,2,p|q\n2,0.5,p\n", o)
	if err != nil || fmt.Sprint(d.Evidence.Weight, d.Evidence.Classes) != "[2 0.5] [1 1 1 0]" {
		t.Errorf("got %+v, %v", d, err)
	}
	d, err = readText("f.csv", "a,w,y\n1,2,p\n2,-1,q\n", o)
	if !facts.Told(err, `f.csv:3:3 weight "-1"`) {
		t.Errorf("got %v, %v", d, err)
	}
}

// Errors count columns from the first, and so do names where R has none over the row names.
func TestFirstColumns(t *testing.T) {
	for _, o := range []Options{{}, {Table: anyTable()}} { // of any table too: it is no gap
		d, err := readText("f.csv", "a,b,y\n1,2,p\n1e39,2,q\n", o)
		if !facts.Told(err, "f.csv:3:1 column 1 (a) float32") {
			t.Errorf("got %v, %v", d, err)
		}
	}
	far := dataset.Encoding{Columns: []dataset.Column{{Name: "a", Kind: dataset.KindNumber,
		Origin: -3e38}, {Name: "b", Kind: dataset.KindNumber}}}
	if d, err := readText("f.csv", "a,b\n1,2\n3e38,4\n", Options{NoLabels: true,
		Table: Table{Encoding: &far}}); !facts.Told(err, "f.csv:3:1 column 1 (a) 3e+38") {
		t.Errorf("behind an origin: got %v, %v", d, err)
	}
	o := Options{Table: Table{Encode: &features.EncodeOptions{Missing: dataset.MissingAuto}}}
	d, err := readText("f.csv", "a,b,y\nr1,1,2,p\nr2,3,4,q\nr3,5,6,p\nr4,7,8,q\n", o)
	if err != nil || fmt.Sprint(d.Features, d.X[:6]) != "[=r1 =r2 =r3 =r4 a b] [1 0 0 0 1 2]" {
		t.Errorf("got %+v, %v", d, err)
	}
}

// A missing number becomes the mean of its own column.
func TestMeansOfTheirColumns(t *testing.T) {
	model := dataset.Encoding{Missing: dataset.MissingMean, Columns: []dataset.Column{
		{Name: "c", Kind: dataset.KindNumber, Mean: new(float32(5))},
		{Name: "v", Kind: dataset.KindNumber, Mean: new(float32(7))}}}
	o := Options{Table: Table{Encoding: &model}, FeatureNames: []string{"c", "v"}, NoLabels: true}
	d, err := readText("f", "v,c\n,1\n2,\n,\n", o)
	if err != nil || fmt.Sprint(d.X) != "[1 7 5 2 5 7]" {
		t.Errorf("got %+v, %v", d, err)
	}
}

// Of an array of several columns of labels the named one is read.
func TestColumnsOfLabelArrays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "y.npy")
	raw := append(npyfile.Header("|u1", 3, 2), 9, 1, 8, 2, 7, 1)
	if err := os.WriteFile(path, raw, 0o666); err != nil {
		t.Fatal(err)
	}
	for column, want := range map[string]string{"2": "[0 1 0] [1 2]", "last": "[0 1 0] [1 2]",
		"first": "[2 1 0] [7 8 9]"} {
		d, err := readText("f.csv", "1\n2\n3\n", Options{Labels: path,
			Table: Table{LabelColumn: column}})
		if err != nil || fmt.Sprint(d.Y, d.Classes) != want {
			t.Errorf("column %s: got %+v, %v", column, d, err)
		}
	}
}
