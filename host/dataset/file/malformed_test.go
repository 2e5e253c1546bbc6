package file

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/facts"
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
					want := fmt.Sprintf("f:%d%s skip-bad", at+2, c.want)
					if !facts.Told(err, want) {
						t.Errorf("%s: %v\nwanted %s", what, err, want)
					}
					o.SkipBad = true
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

// A row with an empty label is skipped by a lenient reader, however many there are, unless no row
// has a label. Others refuse it.
func TestRowsWithoutLabel(t *testing.T) {
	lenient := lenientOptions()
	for rows, column := range map[string]int{"1,red,%s": 7, "1,2,%s": 5} {
		text := "x,colour,kind\n" + lines(30, func(i int) string {
			return fmt.Sprintf(rows, []string{"", "a", "", "", "b", " "}[i%6])
		})
		d, err := readText("f", text, lenient)
		if err != nil {
			t.Fatal(err)
		}
		if d.N != 10 || len(d.SkippedAt) != 20 || d.SkippedAt[0] != 2 || d.SkippedAt[19] != 31 ||
			len(d.SkippedErrs) != 10 || d.SourceRow(0) != 1 || d.SourceRow(9) != 28 {
			t.Errorf("found %d examples of rows %v, skipped %v", d.N, d.Source, d.SkippedAt)
		}
		empty := fmt.Sprintf("f:2:%d column 3 kind empty label", column)
		_, err = readText("f", text, Options{Table: Table{Encode: &features.EncodeOptions{}}})
		if !facts.Told(err, empty) {
			t.Errorf("a strict reader: %v", err)
		}
		none := "x,colour,kind\n" + lines(5, func(int) string { return fmt.Sprintf(rows, "") })
		if _, err = readText("f", none, lenient); !facts.Told(err, "f 5 examples "+empty) {
			t.Errorf("no row has a label: %v", err)
		}
	}
}

func lenientOptions() Options {
	return Options{Table: Table{Encode: &features.EncodeOptions{Missing: dataset.MissingAuto}}}
}
