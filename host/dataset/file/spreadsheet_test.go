package file

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// lines writes n records, record i from 0 by the format f with its arguments.
func lines(n int, f func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(f(i) + "\n")
	}
	return b.String()
}

// What pandas, R and spreadsheets write beside the data: headers of numbers, indices,
// row names; and labels that are measurements. Each is read rightly where that is
// certain, else refused, or read with a warning that names the option that helps.
func TestReadWhatProgramsWrite(t *testing.T) {
	integers := lines(30, func(i int) string { return fmt.Sprintf("%d.5,%d,0.25,%d", i, i*i, i%3) })
	words := lines(30, func(i int) string {
		return fmt.Sprintf("%d.5,%d,0.25,%s", i, i*i, []string{"p", "q"}[i%2])
	})
	indexed := func(first int, text string) string {
		rows := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		return lines(len(rows), func(i int) string { return fmt.Sprintf("%d,%s", first+i, rows[i]) })
	}
	swapped := strings.Replace(indexed(0, words), "\n1,", "\n77,", 1)
	const header = "f line 1 %s header=no"
	const maybe = "f line 1"
	for _, c := range []struct {
		what, text string
		o          Options
		n, d       int
		features   string // "" if there are no names
		remark     string // "" if there is none, or the beginning of an error
	}{
		{"pandas, columns without names, labels that are integers", "0,1,2,y\n" + integers, Options{}, 30,
			3, "0 1 2", fmt.Sprintf(header, "0,1,2,y")},
		{"the same, label first", "y,0,1\n0,1,2\n1,2,3\n", Options{Table: Table{LabelColumn: "first"}}, 2,
			2, "0 1", fmt.Sprintf(header, "y,0,1")},
		{"the same, semicolons", "0;1;class\n1;2;5\n1;2;6\n", Options{}, 2, 2, "0 1", fmt.Sprintf(header,
			"0,1,class")},
		{"pandas, columns without names, labels that are words", "0,1,2,label\n" + words, Options{}, 30,
			3, "0 1 2", fmt.Sprintf(header, "0,1,2,label")},
		{"pandas, columns without names, with index", ",0,1,2,label\n" + indexed(0, words), Options{}, 30,
			3, "0 1 2", "f column 1"},
		{"pandas, all columns without names, with index", ",0,1,2,3\n" + indexed(0, integers), Options{},
			30, 3, "0 1 2", "f column 1"},
		{"pandas, an index read and written again", "Unnamed: 0,0,1,2,label\n" + indexed(5, words),
			Options{}, 30, 3, "0 1 2", "f column 1 Unnamed 0"},
		{"pandas, two indices", ",Unnamed: 0,a,b,c,label\n" + indexed(0, indexed(40, words)), Options{},
			30, 3, "a b c", "f column 2 Unnamed 0"},
		{"pandas, with index", ",a,b,c,label\n" + indexed(0, words), Options{}, 30, 3, "a b c",
			"f column 1"},
		{"the same, sparse", ",a,b,c,label\n" + indexed(0, words), Options{Storage: "sparse"}, 30, 3,
			"a b c", "f column 1"},
		{"pandas, index of a part", ",a,b,c,label\n" + indexed(1000, words), Options{}, 30, 3, "a b c",
			"f column 1"},
		{"pandas, index of a shuffled part", ",a,b,c,label\n" + swapped, Options{}, 30, 4, " a b c",
			"f column 1 ignore-columns=1"},
		{"the same, left out", ",a,b,c,label\n" + swapped, Options{Table: Table{Ignore: []string{"1"}}},
			30, 3, "a b c", ""},
		{"the same, wanted", ",a,b,c,label\n" + indexed(0, words), Options{FeatureNames: []string{"", "a",
			"b", "c"}}, 30, 4, " a b c", ""},
		{"the same, as wide as wanted", ",a,b,c,label\n" + indexed(0, words), Options{Features: 4}, 30, 4,
			" a b c", ""},
		{"pandas, index without a header", indexed(0, words), Options{}, 30, 4, "",
			"f column 1 ignore-columns=1"},
		{"pandas, index with a name", "id,a,b,c,label\n" + indexed(0, words), Options{}, 30, 4,
			"id a b c", "f column 1 id"},
		{"pandas, no labels", "0,1,2\n" + strings.ReplaceAll(strings.ReplaceAll(words, ",p", ""), ",q",
			""), Options{NoLabels: true}, 31, 3, "", maybe},
		{"the same, said to be a header",
			"0,1,2\n" + strings.ReplaceAll(strings.ReplaceAll(words, ",p", ""), ",q", ""),
			Options{NoLabels: true, Table: Table{Header: "yes"}}, 30, 3, "0 1 2", ""},
		{"the same, the names of a model", "0,1,2\n4,5,6\n", Options{NoLabels: true,
			FeatureNames: []string{"2", "0", "1"}}, 1, 3, "2 0 1", ""},
		{"pandas, all columns without names", "0,1,2,3\n" + strings.ReplaceAll(integers, ",0\n", ",5\n"),
			Options{}, 31, 3, "", maybe},
		{"the same, said to be none", "0,1,2,3\n" + integers, Options{Table: Table{Header: "no"}}, 31, 3,
			"", ""},
		{"an unusual name over words", "0,1,2,kind\n" + words, Options{}, 31, 3, "", maybe},

		{"R, write.csv", "\"\",\"a\",\"b\",\"c\",\"label\"\n" + indexed(1, words), Options{}, 30, 3,
			"a b c", "f column 1"},
		{"R, write.csv of numbered columns", "\"\",\"1\",\"2\",\"3\",\"label\"\n" + indexed(1, words),
			Options{}, 30, 3, "1 2 3", "f column 1"},
		{"R, row names", "\"\",\"a\",\"label\"\n\"Mazda RX4\",1,x\n", Options{}, 0, 0, "", `f:2:1 column 1 "Mazda RX4" decimal ignore-columns=1`},
		{"R, write.table", "\"a\",\"label\"\n\"1\",1,\"x\"\n", Options{}, 0, 0, "", "f:2:7 3 fields 2 line 1 R row.names=FALSE col.names=NA"},
		{"R, readr", "...1,a,b,c,label\n" + indexed(1, words), Options{}, 30, 3, "a b c", "f column 1 1"},
		{"Excel, decimal commas", "a;b;label\n1,5;2;x\n", Options{}, 0, 0, "", `f:2:1 column 1 a "1,5" decimal decimal decimal=comma`},
		{"Excel, rows numbered", "Nr,a,b,c,label\n" + indexed(1, words), Options{}, 30, 4, "Nr a b c",
			"f column 1 Nr"},
		{"one name twice", "a,b,a,label\n1,2,3,x\n2,1,5,y\n", Options{}, 2, 3, "a b a", `f "a"`},
		{"one name twice, as wanted", "a,b,a,label\n1,2,3,x\n2,1,5,y\n",
			Options{FeatureNames: []string{"a", "b", "a"}}, 2, 3, "a b a", ""},

		{"a measurement as label", "a,b,price\n" + lines(120, func(i int) string {
			return fmt.Sprintf("1,%d,%d.%d", i%7, 3*i%119, i%9)
		}), Options{}, 0, 0, "",
			`f column 3 price 120 120 examples "0.2" label-column`},
		{"a rounded measurement as label", "a,b,price\n" + lines(120, func(i int) string {
			return fmt.Sprintf("1,%d,%d.5", i%7, i%40)
		}), Options{}, 120, 2, "a b",
			"f column 3 price 0.5 40 classes label-column"},
		{"a number of the example as label", lines(120, func(i int) string {
			return fmt.Sprintf("1,%d,%d", i%7, 5*i)
		}), Options{}, 120, 2, "",
			"f column 3 120 classes 120 examples label-column"},
		{"half points as labels", lines(120, func(i int) string {
			return fmt.Sprintf("1,%d,%v", i%7, float64(i%10)/2)
		}), Options{}, 120, 2, "", ""},
		{"many classes of many examples", lines(300, func(i int) string {
			return fmt.Sprintf("1,%d,%d", i%7, i%100)
		}), Options{}, 300, 2, "", ""},
		{"whole numbers written as floats", lines(60, func(i int) string {
			return fmt.Sprintf("1,%d,%d.0", i%7, i%30)
		}), Options{}, 60, 2, "", ""},
		{"examples that begin like a count", "0,1,x\n" + lines(30,
			func(i int) string { return fmt.Sprintf("%d,5,x", i%4) }) + "3,3,y\n", Options{}, 32, 2, "", ""},
		{"an empty field in the first example", ",1.5,2,x\n3,4,5,y\n", Options{}, 0, 0, "", `f:1:1 column 1 empty ""`},
	} {
		d, err := readText("f", c.text, c.o)
		if err != nil {
			if c.n > 0 || !facts.Told(err, c.remark) {
				t.Errorf("%s: %v\nwant %s", c.what, err, c.remark)
			}
			continue
		}
		if d.N != c.n || d.D != c.d || strings.Join(d.Features, " ") != c.features {
			t.Errorf("%s: %d examples of %d features %q, wanted %d of %d %q",
				c.what, d.N, d.D, d.Features, c.n, c.d, c.features)
		}
		if said := fmt.Sprint(append(d.Notes, d.Warnings...)); c.remark == "" && said != "[]" ||
			!facts.Told(said, c.remark) {
			t.Errorf("%s: said %s\nwant %s", c.what, said, c.remark)
		}
		if d.SHA256 != d.Hash() || d.CheckAll(t.Context()) != nil {
			t.Errorf("%s: hash %s, wanted %s; %v", c.what, d.SHA256, d.Hash(), d.CheckAll(t.Context()))
		}
	}
}

// What is left when an index is left out is the data without it.
func TestIndexLeftOutLeavesTheSameData(t *testing.T) {
	rows := lines(40, func(i int) string {
		return fmt.Sprintf("0,%d,0,0,0,0,0,0,0,%d,%d", i%3, i%5, i%2)
	})
	names := "a,b,c,d,e,f,g,h,i,j,label\n"
	for _, storage := range []string{"dense", "sparse"} {
		want, err := readText("f", names+rows, Options{Storage: storage})
		if err != nil {
			t.Fatal(err)
		}
		k := -1
		indexed := lines(40, func(i int) string {
			k++
			return fmt.Sprintf("%d,%s", k, strings.Split(rows, "\n")[i])
		})
		got, err := readText("f", ","+names+indexed, Options{Storage: storage})
		if err != nil {
			t.Fatal(err)
		}
		if got.SHA256 != want.SHA256 || got.Sparse() != want.Sparse() {
			t.Errorf("%s: another content", storage)
		}
	}
}

// pandas puts an index without a name last into Parquet.
func TestParquetIndexOfPandas(t *testing.T) {
	type row struct {
		A     float64 `parquet:"a"`
		Label int64   `parquet:"label"`
		Index int64   `parquet:"__index_level_0__"`
	}
	var b bytes.Buffer
	if err := parquet.Write(&b, []row{{1.5, 4, 17}, {2.5, 5, 3}, {3.5, 4, 99}}); err != nil {
		t.Fatal(err)
	}
	d, err := readText("f", b.String(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprintf("%v %v %v %v", d.X, d.Classes, d.Features,
		d.Label) != "[1.5 2.5 3.5] [4 5] [a] label" ||
		fmt.Sprint(d.Notes) != "[f: column 3 (__index_level_0__) is an index and is left out; rename it "+
			"if it is a feature]" {
		t.Errorf("read %v, classes %q, features %q, label %q, notes %q", d.X, d.Classes, d.Features,
			d.Label, d.Notes)
	}
	if d, err = readText("f", b.String(),
		Options{NoLabels: true, FeatureNames: []string{"__index_level_0__", "a"}}); err != nil ||
		d.X[0] != 17 {
		t.Errorf("wanted by name: %v", err)
	}
}
