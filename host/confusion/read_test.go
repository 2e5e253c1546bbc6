package confusion

import (
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// The matrix of most tests: no two entries that could be mixed up in silence.
var sample = []float64{
	.5, .25, .125,
	.375, .5, .125,
	.125, .25, .75,
}

// counted are the counts of most tests, noisy labels in rows.
var counted = []float64{
	50, 7, 3,
	4, 61, 5,
	2, 9, 70,
}

func TestReadCSV(t *testing.T) {
	for _, c := range []struct {
		name, text string
		axes       string
	}{
		{"named", "noisy\\true,a,b,c\na,.5,.25,.125\nb,.375,.5,.125\nc,.125,.25,.75\n", ""},
		{"other order", "noisy\\true,c,a,b\nb,.125,.375,.5\nc,.75,.125,.25\na,.125,.5,.25\n", ""},
		{"true rows", "true\\noisy,c,b,a\nb,.25,.5,.25\na,.125,.375,.5\nc,.75,.125,.125\n", ""},
		{"quoted, CRLF, BOM, no last newline",
			"\ufeff\"noisy\\true\",\"a\",b,c\r\n\"a\",\".5\",.25,.125\r\nb,.375,.5,.125\r\nc,.125,.25,.75",
			""},
		{"blank lines, spaces around numbers",
			"\nnoisy\\true,a,b,c\n\na, .5 , .25,.125\nb,.375,.5,.125\nc,.125,.25,.75\n\n", ""},
		{"no corner", ",a,b,c\na,.5,.25,.125\nb,.375,.5,.125\nc,.125,.25,.75\n", ""},
		{"no corner, turned", ",a,b,c\na,.5,.375,.125\nb,.25,.5,.25\nc,.125,.125,.75\n", ""},
		{"no corner, said", ",a,b,c\na,.5,.375,.125\nb,.25,.5,.25\nc,.125,.125,.75\n", TrueRows},
		{"numbers alone", ".5,.25,.125\n.375,.5,.125\n.125,.25,.75\n", ""},
		{"numpy.savetxt", "5.0e-01, 2.5e-01, 1.25e-01\n3.75e-01, 5e-01, 1.25E-1\n+.125, .25, .75", ""},
		{"numbers alone, true rows", ".5,.375,.125\n.25,.5,.25\n.125,.125,.75\n", TrueRows},
	} {
		m, err := readMatrix(save(t, "c.csv", []byte(c.text)), ReadOptions{Classes: abc, Axes: c.axes})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if !slices.Equal(m.P, sample) || !slices.Equal(m.Classes, abc) {
			t.Errorf("%s: got %v of %v, wanted %v of %v", c.name, m.P, m.Classes, sample, abc)
		}
	}
}

func TestReadNamesWithCommas(t *testing.T) {
	classes := []string{`x,"y"`, " z"}
	m, err := readMatrix(save(t, "c",
		[]byte("noisy\\true, z,\"x,\"\"y\"\"\"\n z,.5,.25\n\"x,\"\"y\"\"\",.5,.75\n")),
		ReadOptions{Classes: classes})
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{.75, .5, .25, .5}; !slices.Equal(m.P, want) {
		t.Errorf("got %v, wanted %v", m.P, want)
	}
	m.Classes[0] = "changed"
	if classes[0] == "changed" {
		t.Error("Read shares the caller's names")
	}
}

// Counts of examples, as pandas' crosstab(…).to_csv writes them, are counts for ReadTable and
// become shares for Read.
func TestReadCounts(t *testing.T) {
	for _, c := range []struct {
		name, text string
		axes       string
		want       string
	}{
		{"our own corner", "noisy\\true,a,b,c\na,50,7,3\nb,4,61,5\nc,2,9,70\n", "", TrueColumns},
		{"the other corner", "true\\noisy,a,b,c\na,50,4,2\nb,7,61,9\nc,3,5,70\n", "", TrueRows},
		{"corner by slash", "Actual / Predicted,a,b,c\na,50,4,2\nb,7,61,9\nc,3,5,70\n", "", TrueRows},
		{"crosstab", "true,a,b,c\na,50,4,2\nb,7,61,9\nc,3,5,70\n", "", TrueRows},
		{"crosstab of the other order", "noisy_label,a,b,c\na,50,7,3\nb,4,61,5\nc,2,9,70\n", "",
			TrueColumns},
		{"to_csv of floats", ",a,b,c\na,50.0,4.0,2.0\nb,7.0,61.0,9.0\nc,3.0,5.0,70.0\n", TrueRows,
			TrueRows},
		{"numbers alone", "50,7,3\n4,61,5\n2,9,70\n", TrueColumns, TrueColumns},
	} {
		path := save(t, "c.csv", []byte(c.text))
		got, err := ReadTable(path, ReadOptions{Classes: abc, Axes: c.axes})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !slices.Equal(got.V, counted) || !got.Counts || got.Axes != c.want ||
			len(got.Notes) != 0 {
			t.Errorf("%s: got %+v, wanted counts %v with %s", c.name, got, counted, c.want)
		}
		m, err := readMatrix(path, ReadOptions{Classes: abc, Axes: c.axes})
		if err != nil || m.P[1] != 7./77 {
			t.Errorf("%s: got %v, %v", c.name, m, err)
		}
	}
}

// Names come from the table without data; row names and column names may differ.
func TestReadTableNames(t *testing.T) {
	for _, c := range []struct {
		name, text string
		axes       string
		classes    []string
		want       []float64
	}{
		{"none", "5,1\n2,7\n", TrueColumns, []string{"0", "1"}, []float64{5, 1, 2, 7}},
		{"numbers", ",3,8\n3,5,1\n8,2,7\n", TrueColumns, []string{"3", "8"}, []float64{5, 1, 2, 7}},
		{"a noisy class that never is true", "true,x,y\nx,5,2\n", "", []string{"x", "y"}, []float64{5, 0,
			2, 0}},
		{"a true class that never is given", "true,x\nx,5\ny,2\n", "", []string{"x", "y"}, []float64{5, 2,
			0, 0}},
		{"a comma in a name", "true,\"x, y\",z\n\"x, y\",5,2\nz,1,7\n", "", []string{"x, y", "z"},
			[]float64{5, 1, 2, 7}},
	} {
		got, err := Parse("F", []byte(c.text), ReadOptions{Axes: c.axes})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if !slices.Equal(got.Classes, c.classes) || !slices.Equal(got.V, c.want) {
			t.Errorf("%s: got %v of %q, wanted %v of %q", c.name, got.V, got.Classes, c.want, c.classes)
		}
	}
}

// Shares that were rounded are made to sum to 1 by Share, and refused by Read.
func TestRoundedShares(t *testing.T) {
	path := save(t, "c.csv", []byte("noisy,a,b\na,.67,.335\nb,.335,.67\n"))
	got, err := ReadTable(path, ReadOptions{})
	if err != nil || got.Counts {
		t.Fatalf("got %+v, %v", got, err)
	}
	m, err := got.Share()
	if err != nil || math.Abs(m.P[0]-2./3) > 1e-12 {
		t.Errorf("got %v, %v", m, err)
	}
	_, err = readMatrix(path, ReadOptions{})
	wantError(t, err, path+` "a" 1.0050000000000001 divide`)
}

// Odd tables are read, and said to be odd.
func TestReadTableNotes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"noisy,a,b,c\na,1,5,9\nb,7,1,1\nc,1,1,1\n", `"a" "b" "c"`},
	} {
		got, err := Parse("F", []byte(c.text), ReadOptions{Classes: abc})
		if err != nil || !facts.Told(strings.Join(got.Notes, "; "), c.want) {
			t.Errorf("%q: notes %q, %v; wanted %q", c.text, got.Notes, err, c.want)
		}
	}
	empty, err := Parse("F", []byte("noisy,a,b\na,5,0\nb,1,0\n"), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = empty.Share()
	wantError(t, err, `"b"`)
}

func TestReadErrors(t *testing.T) {
	const named = "noisy\\true,a,b\na,.75,.5\nb,.25,.5\n"
	for _, c := range []struct {
		name, text string
		axes       string
		place      string // after the path
		fact       string
	}{
		{"empty", "", "", ": ", "numbers"},
		{"blank", "\n \n", "", ":2: ", "numbers"},
		{"zip", "PK\x03\x04...", "", ":1: ", "numbers"},
		{"header alone", "noisy\\true,a,b\n", "", ": ", "numbers"},
		{"no such axes", named, "rows", ": ", `"rows"`},

		{"counts, no corner", ",a,b\na,90,10\nb,20,80\n", "", ": ",
			`counts confusion-axes=true-rows`},
		{"counts, no names", "90,10\n20,80\n", "", ": ", `counts confusion-axes=true-rows`},
		{"no corner, columns fit", ",a,b\na,.75,.5\nb,.25,.5\n", TrueRows, ": ", `"a" 1.25`},
		{"both fit, not symmetric", ",a,b\na,.5,.5\nb,.5,.5\n", "", "", ""},
		{"corner against the option", named, TrueRows, ": ",
			`"noisy\\true" confusion-axes=true-rows`},
		{"corner against the sums", "true,a,b\na,.75,.5\nb,.25,.5\n", "", ": ", `"a" 1.25`},
		{"both axes true", "true/actual,a,b\na,5,1\nb,2,7\n", "", ": ", `"true" "actual"`},
		{"transposed", ".75,.25\n.5,.5\n", "", ": ", "confusion-axes=true-rows"},
		{"transposed by the option", ".75,.5\n.25,.5\n", TrueRows, ": ", "noisy confusion-axes=true-rows"},
		{"neither", ".75,.25\n.5,.25\n", "", ": ", `"a" 1.25`},

		{"semicolons", "noisy\\true;a;b\na;.75;.5\n", "", ":1: ", "commas"},
		{"margins", "true,x,y,All\nx,5,1,6\ny,2,7,9\nAll,7,8,15\n", "", ": ", `"x" "y" "All"`},
		{"header short", "noisy\\true,a\na,1\n", "", ": ", `"b" 0`},
		{"header twice", "noisy\\true,a,b,a\na,1,0,0\nb,0,1,0\n", "", ": ", `"a" twice`},
		{"space before a name", "noisy\\true,a, b\na,1,0\nb,0,1\n", "", ": ", `b" "b"`},
		{"row of another", named + "d,0,0\n", "", ": ", `"d"`},
		{"ragged", "noisy\\true,a,b\na,.75,.25\nb,1\n", "", ":3: ", "1 numbers 2"},
		{"no number", "noisy\\true,a,b\na,.75,x1\n", "", ":2: ", `"x1" column 2`},
		{"no entry", "noisy\\true,a,b\na,,1\n", "", ":2: ", "column 1"},
		{"broken quote", "noisy\\true,a,b\n\"a,.75,.5\n", "", ":2: ", "CSV column 11"},
		{"quote inside", "noisy\\true,a,b\na,.7\"5,.5\n", "", ":2: ", "CSV column 5"},

		{"not square: wide", "1,0,0\n0,1,0\n", "", ": ", "2×3 numbers"},
		{"zeros", "0,0\n0,0\n", "", ": ", "zeros"},
		{"fractions above 1", "50.5,60\n49.5,40\n", "", ": ", `50.5 60 percentages`},
		{"negative", "1,-.1\n0,1.1\n", "", ":1: ", "-.1 column 2"},
		{"NaN", "NaN,0\n0,1\n", "", ":1: ", "NaN column 1"},
		{"too large", "1,0\n0,1e999\n", "", ":2: ", "1e999 column 2"},
		{"hexadecimal", "1,0x1p-2\n0,1\n", "", ":1: ", `"0x1p-2" column 2`},
	} {
		path := save(t, "c.csv", []byte(c.text))
		m, err := readMatrix(path, ReadOptions{Classes: []string{"a", "b"}, Axes: c.axes})
		if c.fact == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if m != nil {
			t.Errorf("%s: got a matrix", c.name)
		}
		if err == nil || !strings.HasPrefix(err.Error(), path+c.place) || !facts.Told(err, c.fact) {
			t.Errorf("%s:\ngot  %v\nwant %s%s...%s", c.name, err, path, c.place, c.fact)
		}
	}
	for text, want := range map[string]string{
		"true,x,y,All\nx,5,1,6\ny,2,7,9\nAll,7,8,15\n": "margins=True",
		"true,a\na,5\n":        `F 1 classes "a" 2`,
		"true,a,\na,5,1\n,7,2": "F name",
		",a,b,c\na,.5,.35,.15\nb,.15,.5,.35\nc,.35,.15,.5\n": "confusion-axes=true-rows",
	} {
		_, err := Parse("F", []byte(text), ReadOptions{})
		wantError(t, err, want)
	}
}

func TestReadManyMissingClasses(t *testing.T) {
	path := save(t, "c.csv", []byte("noisy\\true,c0\nc0,1\n"))
	_, err := readMatrix(path, ReadOptions{Classes: names(14)})
	wantError(t, err, path+` "c1" 0`)
}

func TestReadFileErrors(t *testing.T) {
	dir := t.TempDir()
	two := ReadOptions{Classes: []string{"a", "b"}}
	missing := filepath.Join(dir, "none.csv")
	_, err := readMatrix(missing, two)
	if !errors.Is(err, fs.ErrNotExist) || !facts.Told(err, missing) {
		t.Errorf("a missing file: %v", err)
	}
	_, err = readMatrix(dir, two)
	wantError(t, err, dir+" directory")
	_, err = Parse(missing, nil, ReadOptions{Classes: []string{"a"}})
	wantError(t, err, missing+` 1 classes "a" 2`)
}

// Whatever a file says, there is an error that names it or a table that is one.
func FuzzReadTable(f *testing.F) {
	for _, s := range []string{
		"", "true,a,b\na,5,1\nb,2,7\n", ".5,.5\n.5,.5\n", "true,a,b,All\na,5,1,6\nb,7,2,9\nAll,12,3,15\n",
		"\x1f\x8b\x08", "PK\x03\x04", "\"", "All,All,All\nAll,1,1\nAll,2,2\n", "a\nb\n", ",\n,\n",
		"standard error,a\na,1\n", "noisy\\true,a,b\na,1,0\nb,0,1\nstandard error,a,b\na,0,0\nb,0,0\n",
		string(npyFile(npyDict("<f8", "True", "(99999999999, 99999999999)"), nil)),
	} {
		f.Add([]byte(s), true)
		f.Add([]byte(s), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, rows bool) {
		o := ReadOptions{}
		if rows {
			o.Axes = TrueRows
		}
		got, err := Parse("F", data, o)
		if err != nil {
			if got != nil || !strings.HasPrefix(err.Error(), "F:") {
				t.Fatalf("table %v with error %q", got, err)
			}
			return
		}
		if err := CheckClasses(got.Classes); err != nil || got.Axes == "" {
			t.Fatalf("%+v: %v", got, err)
		}
		if len(got.V) != len(got.Classes)*len(got.Classes) || slices.Min(got.V) < 0 {
			t.Fatalf("%+v", got)
		}
		if m, err := got.Share(); err == nil && m.Check() != nil {
			t.Fatal(m.Check())
		}
	})
}
