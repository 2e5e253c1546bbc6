package file

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// people is a table as pandas writes one: an index, a category, a truth, numbers, one of them
// missing.
const people = `,colour,member,age,city,class
0,red,True,30,Oslo,a
1,blue,False,,Rome,b
2,red,True,50,Oslo,a
3,green,False,40,NA,b
`

func mixed(missing string) Options {
	return Options{Table: Table{Encode: &features.EncodeOptions{Missing: missing}}}
}

// rows are the examples as text, one line each.
func rows(e dataset.Examples) string {
	var b strings.Builder
	for i := range e.N {
		fmt.Fprintln(&b, e.Dense().Row(i))
	}
	return b.String()
}

func TestMixedTable(t *testing.T) {
	for _, c := range []struct {
		missing, features, rows string
	}{
		{"mean", "colour=blue colour=green colour=red member age city=Oslo city=Rome",
			"[0 0 1 1 30 1 0]\n[1 0 0 0 40 0 1]\n[0 0 1 1 50 1 0]\n[0 1 0 0 40 0 0]\n"},
		{"indicator", "colour=blue colour=green colour=red member age age (missing) city=Oslo " +
			"city=Rome city (missing)",
			"[0 0 1 1 30 0 1 0 0]\n[1 0 0 0 40 1 0 1 0]\n[0 0 1 1 50 0 1 0 0]\n[0 1 0 0 40 0 0 0 1]\n"},
	} {
		for _, storage := range []string{"dense", "sparse"} {
			o := mixed(c.missing)
			o.Storage = storage
			d, err := readText("f.csv", people, o)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(d.Features, " "); got != c.features {
				t.Errorf("%s: features %s\nwanted %s", c.missing, got, c.features)
			}
			if got := rows(d.Examples); got != c.rows || d.Sparse() != (storage == "sparse") {
				t.Errorf("%s, %s: examples\n%swanted\n%s", c.missing, storage, got, c.rows)
			}
			want := []dataset.MissingCount{{Column: "column 4 (age)", Values: 1},
				{Column: "column 5 (city)", Values: 1}}
			if !reflect.DeepEqual(d.Missing, want) || fmt.Sprint(d.Y) != "[0 1 0 1]" {
				t.Errorf("%s: missing %v, labels %v", c.missing, d.Missing, d.Y)
			}
			if err := d.CheckAll(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
}

// mixedRow is a row of people, as Parquet has it.
type mixedRow struct {
	Colour string   `parquet:"colour"`
	Member bool     `parquet:"member"`
	Age    *float64 `parquet:"age,optional"`
	City   *string  `parquet:"city,optional"`
	Class  string   `parquet:"class"`
}

func mixedParquet(t testing.TB) string {
	age := func(v float64) *float64 { return &v }
	city := func(v string) *string { return &v }
	var b bytes.Buffer
	w := parquet.NewGenericWriter[mixedRow](&b, parquet.MaxRowsPerRowGroup(3))
	if _, err := w.Write([]mixedRow{{"red", true, age(30), city("Oslo"), "a"}, {"blue", false, nil,
		city("Rome"), "b"},
		{"red", true, age(50), city("Oslo"), "a"}, {"green", false, age(40), nil, "b"}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The same table is the same examples and the same recipe in every format, and the recipe of one
// reads the others.
func TestMixedFormatsAgree(t *testing.T) {
	for _, missing := range []string{"mean", "indicator"} {
		want, err := readText("f.csv", people, mixed(missing))
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"f.parquet": mixedParquet(t),
			"f.tsv": strings.ReplaceAll(people, ",", "\t")} {
			got, err := readText(name, text, mixed(missing))
			if err != nil {
				t.Fatal(err)
			}
			if got.SHA256 != want.SHA256 || !reflect.DeepEqual(got.Encoding, want.Encoding) ||
				!reflect.DeepEqual(got.Features, want.Features) {
				t.Errorf("%s: read %v\n%s%+v\nwanted %v\n%s%+v", name, got.Features, rows(got.Examples),
					got.Encoding,
					want.Features, rows(want.Examples), want.Encoding)
			}
			o := Options{Table: Table{Encoding: got.Encoding}, FeatureNames: got.Features,
				Classes: got.Classes}
			again, err := readText("f.csv", people, o)
			if err != nil {
				t.Fatal(err)
			}
			if again.SHA256 != want.SHA256 {
				t.Errorf("%s: its recipe reads\n%swanted\n%s", name, rows(again.Examples), rows(want.Examples))
			}
		}
	}
}

// A model's recipe, kept as JSON, reads columns in another order, with levels it does not know and
// other columns between, and tables that have its features themselves.
func TestRecipe(t *testing.T) {
	learned, err := readText("f.csv", people, mixed("mean"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(learned.Encoding)
	if err != nil {
		t.Fatal(err)
	}
	recipe := &dataset.Encoding{}
	if err := json.Unmarshal(text, recipe); err != nil {
		t.Fatal(err)
	}
	o := Options{Table: Table{Encoding: recipe}, FeatureNames: learned.Features,
		Features: len(learned.Features),
		Classes:  learned.Classes}
	d, err := readText("g.csv",
		"class,city,more,age,member,colour\na,Rome,x,null,yes,teal\nb,Bonn,y,7,0,red\n",
		with(o, func(o *Options) { o.LabelColumn = "class" }))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := rows(d.Examples), "[0 0 0 1 40 0 1]\n[0 0 1 0 7 0 0]\n"; got != want {
		t.Errorf("examples\n%swanted\n%s", got, want)
	}
	said := strings.Join(d.Warnings, "\n")
	for _, want := range []string{
		`g.csv column 2 city "Bonn" row 2`,
		`g.csv column 6 colour "teal" row 1`} {
		if !facts.Told(said, want) {
			t.Errorf("warnings %s\nwanted %s", said, want)
		}
	}
	plain, err := readText("h.csv", strings.Join(learned.Features,
		",")+",class\n0,0,1,1,30,1,0,a\n1,0,0,0,40,0,1,b\n", o)
	if err != nil {
		t.Fatal(err)
	}
	if got := rows(plain.Examples); got != "[0 0 1 1 30 1 0]\n[1 0 0 0 40 0 1]\n" {
		t.Errorf("features themselves: %s", got)
	}
	for _, c := range []struct {
		text, want string
		change     func(*Options)
	}{
		{"colour,member,age,city,class\nteal,True,3,Oslo,a\n",
			`g.csv:2:1 column 1 colour "teal" 3 levels "blue" "green" "red"`,
			func(o *Options) { o.Unseen = "error" }},
		{"colour,member,age,class\nred,True,3,a\n", `g.csv:1 "colour" "member" "age" "city"`, nil},
		{"colour,member,age,city,class\nred,True,old,Oslo,a\n", `g.csv:2:10 column 3 age "old" decimal`, nil},
		{"colour,member,age,city,class\nred,perhaps,3,Oslo,a\n", `g.csv:2:5 column 2 member "perhaps" decimal`, nil},
	} {
		change := c.change
		if change == nil {
			change = func(*Options) {}
		}
		if _, err := readText("g.csv", c.text, with(o, change)); !facts.Told(err, c.want) {
			t.Errorf("%s: %v\nwanted %s", c.text, err, c.want)
		}
	}
}

func with(o Options, change func(*Options)) Options { change(&o); return o }

func TestMixedBad(t *testing.T) {
	var own strings.Builder
	own.WriteString("name,x,class\n")
	for i := range 30 {
		fmt.Fprintf(&own, "n%d,%d,%d\n", i, i, i%2)
	}
	const good = "x,y,class\n1,2,a\n3,4,b\n5,6,a\n"
	for _, c := range []struct {
		what, name, text string
		o                Options
		want             string
	}{
		{"missing", "f", good + "7,,b\n", mixed(""), `f:5:3 column 2 y empty "" missing missing missing=mean`},
		{"missing level", "f", "x,y,class\nu,2,a\nNA,4,b\nu,2,b\n", mixed(""), `f:3:1 column 1 x "NA" missing missing missing=mean`},
		{"a word among numbers", "f", good + "old,8,b\n", mixed("mean"), `f:5:1 column 1 x "old" decimal categories=x`},
		{"infinite", "f", good + "inf,8,b\n", mixed("mean"), `f:5:1 column 1 x "inf" finite`},
		{"names of examples", "f", own.String(), mixed(""), `f column 1 name 30 30 examples "n0" ignore-columns=name`},
		{"dates", "f", "day,x,class\n2024-01-31,1,a\n2024-02-01 12:00,2,b\n", mixed(""), `f:1 column 1 day "2024-01-31" ignore-columns=day`},
		{"no such column", "f", good, Options{Table: Table{Encode: &features.EncodeOptions{Categories: []string{"z"}}}}, `f:1 "x" "y" "class" "z"`},
		{"the label", "f", good,
			Options{Table: Table{Encode: &features.EncodeOptions{Categories: []string{"class"}}}},
			"f:1 column 3 class"},
		{"bad UTF-8", "f", "x,y,class\nu,2,a\n\xff,4,b\nu,2,b\n", mixed(""), `f:3:1 column 1 x "\xff" UTF-8`},
		{"choice", "f", good, mixed("median"), `"median" missing`},
		{"unseen", "f", good, Options{Table: Table{Unseen: "drop"}}, `"drop"`},
	} {
		for _, skip := range []bool{false, true} {
			if c.o.SkipBad = 0; skip {
				c.o.SkipBad = 1
			}
			d, err := readText(c.name, c.text, c.o)
			if skip && err == nil && len(d.SkippedAt) > 0 {
				err = d.SkippedErrs[0]
			}
			if !facts.Told(err, c.want) {
				t.Errorf("%s, skip %v: %v\nwanted %s", c.what, skip, err, c.want)
			}
			if strings.HasPrefix(c.what, "missing") && !errors.Is(err, features.ErrMissing) {
				t.Errorf("%s: %v is not ErrMissing", c.what, err)
			}
		}
	}
	d, err := readText("f", own.String(),
		Options{Table: Table{Encode: &features.EncodeOptions{Categories: []string{"name"}}}})
	if err != nil || d.D != 31 {
		t.Errorf("a category that was asked for: %v, %v", d, err)
	}
}

// Levels of bad examples are no features.
func TestMixedSkips(t *testing.T) {
	d, err := readText("f", "x,y,class\nu,2,a\nw,oops,b\nv,3,b\nu,5,a\n",
		Options{Table: Table{Encode: &features.EncodeOptions{}}, SkipBad: math.MaxInt})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(d.Features, d.SkippedAt); got != "[x=u x=v y] [3]" {
		t.Errorf("read %s", got)
	}
}

// Truths are numbers in every table, whatever is asked for.
func TestTruths(t *testing.T) {
	d, err := readText("f", "x,y,class\ntrue,No,a\nFALSE,yes,b\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := rows(d.Examples); got != "[1 0]\n[0 1]\n" || d.Encoding != nil {
		t.Errorf("read %s%v", got, d.Encoding)
	}
	d, err = readText("f", "true,1,a\nfalse,2,b\n",
		Options{Table: Table{Encode: &features.EncodeOptions{}}})
	if err != nil || d.N != 2 || d.Encoding != nil {
		t.Errorf("without a header: %v, %v", d, err)
	}
}

// A table of numbers is read as ever, and has no recipe, unless missing values are allowed.
func TestNumbersHaveNoRecipe(t *testing.T) {
	const text = "x,y,class\n1,2,a\n3,4,b\n"
	plain, err := readText("f", text, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, missing := range []string{"", "error", "mean"} {
		d, err := readText("f", text, mixed(missing))
		if err != nil {
			t.Fatal(err)
		}
		if d.SHA256 != plain.SHA256 || (d.Encoding != nil) != (missing == "mean") {
			t.Errorf("missing %q: %s%v", missing, rows(d.Examples), d.Encoding)
		}
	}
}

func TestEncodingCheck(t *testing.T) {
	mean := float32(1)
	for _, c := range []struct {
		want string
		e    *dataset.Encoding
	}{
		{"", &dataset.Encoding{Missing: "mean", Columns: []dataset.Column{{Kind: "number",
			Mean: &mean}}}},
		{`""`, &dataset.Encoding{Columns: []dataset.Column{{Kind: "number"}}}},
		{"column", &dataset.Encoding{Missing: "error"}},
		{`"x"`, &dataset.Encoding{Missing: "error", Columns: []dataset.Column{{Kind: "x"}}}},
		{"levels", &dataset.Encoding{Missing: "error", Columns: []dataset.Column{{Kind: "number",
			Levels: []string{"a"}}}}},
		{`"a" twice`, &dataset.Encoding{Missing: "error", Columns: []dataset.Column{{Kind: "category", Levels: []string{"a", "a"}}}}},
		{"category", &dataset.Encoding{Missing: "error", Columns: []dataset.Column{{Kind: "category"}}}},
		{"missing", &dataset.Encoding{Missing: "error", Columns: []dataset.Column{{Kind: "number",
			Mean: &mean}}}},
		{"indicator", &dataset.Encoding{Missing: "mean", Columns: []dataset.Column{{Kind: "number",
			Mean: &mean, Indicator: true}}}},
		{"UTF-8", &dataset.Encoding{Missing: "error", Columns: []dataset.Column{{Kind: "category",
			Levels: []string{"\xff"}}}}},
		{"missing", &dataset.Encoding{Missing: "mean", Columns: []dataset.Column{{Kind: "number"}}}},
	} {
		if err := c.e.Check(); (err == nil) != (c.want == "") || err != nil && !facts.Told(err, c.want) {
			t.Errorf("%+v: %v, wanted %s", c.e, err, c.want)
		}
	}
}
