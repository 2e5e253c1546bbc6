package file

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

func withText(text features.TextOptions) Options {
	return Options{Table: Table{Encode: &features.EncodeOptions{Text: text}}}
}

// table writes texts and labels as a CSV with a header.
func table(texts []string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.Write([]string{"said", "class"})
	for i, text := range texts {
		w.Write([]string{text, string(rune('a' + i%2))})
	}
	w.Flush()
	return b.String()
}

// Vocabulary, idf and values are scikit-learn's (testdata/tfidf.py), to the precision of float32.
func TestTextIsThatOfScikitLearn(t *testing.T) {
	raw, err := os.ReadFile(golden("tfidf.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Fit, New []string
		Cases    []struct {
			Words, Least, Most int
			Terms              []string
			IDF                []float64
			Fit, New           [][][2]float64
		}
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	if len(want.Cases) < 5 {
		t.Fatal("too few cases")
	}
	for _, c := range want.Cases {
		what := fmt.Sprintf("runs of %d words, of %d examples", c.Words, c.Least)
		o := withText(features.TextOptions{Columns: []string{"said"}, Words: c.Words,
			MinExamples: c.Least, Features: c.Most})
		d, err := readText("f.csv", table(want.Fit), o)
		if err != nil {
			t.Fatal(err)
		}
		column := d.Encoding.Columns[0]
		if !reflect.DeepEqual(column.Terms, c.Terms) {
			t.Fatalf("%s: terms %q\nwanted %q", what, column.Terms, c.Terms)
		}
		for k, idf := range column.IDF {
			if math.Abs(float64(idf)-c.IDF[k]) > 5e-7 {
				t.Errorf("%s: idf of %q is %v, wanted %v", what, column.Terms[k], idf, c.IDF[k])
			}
		}
		e := throughJSON(t, d.Encoding)
		fresh, err := readText("f.csv", table(want.New), Options{Table: Table{Encoding: e},
			FeatureNames: e.FeatureNames()})
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []struct {
			x    *dataset.Dataset
			rows [][][2]float64
		}{{d, c.Fit}, {fresh, c.New}} {
			if !part.x.Sparse() {
				t.Errorf("%s: dense", what)
			}
			for i, row := range part.rows {
				columns, values := part.x.SparseRow(i)
				if len(columns) != len(row) {
					t.Fatalf("%s: example %d has %d terms, wanted %d", what, i, len(columns), len(row))
				}
				for k := range columns {
					if columns[k] != int32(row[k][0]) || math.Abs(float64(values[k])-row[k][1]) > 5e-7 {
						t.Errorf("%s: example %d: %v at %d, wanted %v at %v", what, i, values[k], columns[k],
							row[k][1], row[k][0])
					}
				}
			}
		}
	}
}

// A vocabulary is capped by default: it keeps the terms that most examples have, ties by name. A
// note says how many are left out and what takes all of them. Another cap is an option.
func TestTextFeaturesAreCapped(t *testing.T) {
	const rare = 31020
	texts := []string{"zz zz zz zz", "yy xx", "yy xx", "yy"}
	for i := range rare / 30 {
		var b strings.Builder
		for k := range 30 {
			fmt.Fprintf(&b, "a%05d ", 30*i+k)
		}
		texts = append(texts, b.String())
	}
	one := features.TextOptions{Columns: []string{"said"}, Words: 1}
	d, err := readText("f.csv", table(texts), withText(one))
	if err != nil {
		t.Fatal(err)
	}
	terms := d.Encoding.Columns[0].Terms
	if len(terms) != features.DefaultTextFeatures || !slices.Contains(terms, "yy") ||
		slices.Contains(terms, "zz") || !slices.Contains(terms, "a29997") ||
		slices.Contains(terms, "a29998") {
		t.Errorf("%d terms, the last of them %q", len(terms), terms[len(terms)-3:])
	}
	if want := []string{"said", "1023", "30000", "text-features=31023"}; len(d.Notes) == 0 ||
		!facts.Told(d.Notes[0], strings.Join(want, " ")) {
		t.Errorf("found the notes %q, wanted one with %q", d.Notes, want)
	}
	one.Features = rare + 3
	if d, err = readText("f.csv", table(texts), withText(one)); err != nil {
		t.Fatal(err)
	}
	if n := len(d.Encoding.Columns[0].Terms); n != rare+3 || len(d.Notes) > 0 {
		t.Errorf("%d terms with a cap of %d, and the notes %q", n, one.Features, d.Notes)
	}
}

func throughJSON(t *testing.T, e *dataset.Encoding) *dataset.Encoding {
	t.Helper()
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	again := &dataset.Encoding{}
	if err := json.Unmarshal(text, again); err != nil {
		t.Fatal(err)
	}
	if err := again.Check(); err != nil {
		t.Fatal(err)
	}
	return again
}

const reviews = `stars,said,shop,class
5,good good book,Oslo,a
1,"bad, bad book",Rome,b
4,a good film,Oslo,a
2,NA,Rome,b
`

// A text is beside other columns, and missing ones are texts without words. Every format reads the
// same of it, and the recipe gives the same rows one by one.
func TestTextBesideOthers(t *testing.T) {
	o := withText(features.TextOptions{Columns: []string{"said"}, MinExamples: 1, Words: 1})
	d, err := readText("f.csv", reviews, o)
	if err != nil {
		t.Fatal(err)
	}
	const terms = "stars said=bad said=book said=film said=good said=na shop=Oslo shop=Rome"
	if got := strings.Join(d.Features, " "); got != terms {
		t.Errorf("terms %s", got)
	}
	if d.Encoding.String() != "1 number, 1 category, 1 text: 8 features" ||
		d.DefaultSteps() != dataset.DefaultStepsText {
		t.Errorf("%s, prepared by %s", d.Encoding, d.DefaultSteps())
	}
	for name, text := range map[string]string{"f.parquet": reviewsParquet(t)} {
		got, err := readText(name, text, o)
		if err != nil {
			t.Fatal(err)
		}
		if got.SHA256 != d.SHA256 || !reflect.DeepEqual(got.Encoding.Columns, d.Encoding.Columns) {
			t.Errorf("%s: read %s%+v\nwanted %s%+v", name, rows(got.Examples), got.Encoding.Columns,
				rows(d.Examples), d.Encoding.Columns)
		}
	}
	p := *d
	if err := features.Prepare(&p, dataset.Steps{MaxAbs: true}); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(p.Prepared.A); got != "[0.2 1 1 1 1 1 1 1]" {
		t.Errorf("maxabs maps by %s", got)
	}
	for _, c := range []struct {
		o    Options
		text string
		want string
	}{
		{o, strings.ReplaceAll(reviews, "film", "f\xfflm"), "f:4:3 column 2 said UTF-8"},
		{withText(features.TextOptions{Columns: []string{"said"}, MinExamples: 9}), reviews, "word 9"},
		{withText(features.TextOptions{Columns: []string{"told"}}), reviews, `"told"`},
		{withText(features.TextOptions{Columns: []string{"class"}}), reviews, "text columns features"},
		{Options{Table: Table{Encode: &features.EncodeOptions{Categories: []string{"2"},
			Text: features.TextOptions{Columns: []string{"said"}}}}}, reviews, "category"},
		{withText(features.TextOptions{Words: 9}), reviews, "9 words 0 5"},
	} {
		if _, err := readText("f", c.text, c.o); !facts.Told(err, c.want) {
			t.Errorf("%v\nwanted %s", err, c.want)
		}
	}
	bad := throughJSON(t, d.Encoding)
	bad.Columns[1].IDF[0] = 0
	if err := bad.Check(); !facts.Told(err, "idf 0") {
		t.Error(err)
	}
}

func reviewsParquet(t *testing.T) string {
	type review struct {
		Stars int32   `parquet:"stars"`
		Said  *string `parquet:"said,optional"`
		Shop  string  `parquet:"shop"`
		Class string  `parquet:"class"`
	}
	said := func(s string) *string { return &s }
	var b strings.Builder
	if err := parquet.Write(&b, []review{
		{5, said("good good book"), "Oslo", "a"}, {1, said("bad, bad book"), "Rome", "b"},
		{4, said("a good film"), "Oslo", "a"}, {2, said("NA"), "Rome", "b"}}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
