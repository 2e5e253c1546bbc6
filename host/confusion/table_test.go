package confusion

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/confusion/internal/labelfile"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// The counts of most tests, noisy labels in rows: no two numbers that could be mixed up.
var counted = []float64{
	50, 7, 3,
	4, 61, 5,
	2, 9, 70,
}

func transposed(v []float64, q int) []float64 {
	t := make([]float64, q*q)
	for i := range v {
		t[i%q*q+i/q] = v[i]
	}
	return t
}

// What programs write of the same counts.
func TestReadTableCounts(t *testing.T) {
	for _, c := range []struct {
		name, text string
		axes       string
		want       string
	}{
		{"our own corner", "noisy\\true,a,b,c\na,50,7,3\nb,4,61,5\nc,2,9,70\n", "", TrueColumns},
		{"the other corner", "true\\noisy,a,b,c\na,50,4,2\nb,7,61,9\nc,3,5,70\n", "", TrueRows},
		{"corner by slash", "Actual / Predicted,a,b,c\na,50,4,2\nb,7,61,9\nc,3,5,70\n", "", TrueRows},
		{"crosstab(...).to_csv()", "true,a,b,c\na,50,4,2\nb,7,61,9\nc,3,5,70\n", "", TrueRows},
		{"crosstab of the other order", "noisy_label,a,b,c\na,50,7,3\nb,4,61,5\nc,2,9,70\n", "",
			TrueColumns},
		{"crosstab with margins",
			"true,a,b,c,All\na,50,4,2,56\nb,7,61,9,77\nc,3,5,70,78\nAll,60,70,81,211\n", "", TrueRows},
		{"spreadsheet with totals",
			"given;a;b;c;Total\na;50;7;3;60\nb;4;61;5;70\nc;2;9;70;81\nTotal;56;77;78;211\n", "",
			TrueColumns},
		{"crosstab, printed", "noisy   a   b   c  All\ntrue                  \na      50   4   2   " +
			"56\nb       7  61   9   77\nc       3   5  70   78\nAll    60  70  81  211\n", "", TrueRows},
		{"to_csv", ",a,b,c\na,50,4,2\nb,7,61,9\nc,3,5,70\n", TrueRows, TrueRows},
		{"to_csv of floats", ",a,b,c\na,50.0,4.0,2.0\nb,7.0,61.0,9.0\nc,3.0,5.0,70.0\n", TrueRows,
			TrueRows},
		{"to_csv(index=False)", "a,b,c\n50,4,2\n7,61,9\n3,5,70\n", TrueRows, TrueRows},
		{"names before the rows alone", "a,50,7,3\nb,4,61,5\nc,2,9,70\n", TrueColumns, TrueColumns},
		{"write.table", "\"a\" \"b\" \"c\"\n\"a\" 50 7 3\n\"b\" 4 61 5\n\"c\" 2 9 70\n", TrueColumns,
			TrueColumns},
		{"printed DataFrame", "    a   b   c\na  50   7   3\nb   4  61   5\nc   2   9  70\n", TrueColumns,
			TrueColumns},
		{"rows in another order", ",c,a,b\nb,5,4,61\na,3,50,7\nc,70,2,9\n", TrueColumns, TrueColumns},
		{"tabs, BOM, CRLF", "\ufefftruth\ta\tb\tc\r\na\t50\t4\t2\r\nb\t7\t61\t9\r\nc\t3\t5\t70\r\n", "",
			TrueRows},
		{"confusion_matrix, printed", "[[50  4  2]\n [ 7 61  9]\n [ 3  5 70]]\n", TrueRows, TrueRows},
		{"confusion_matrix, repr", "array([[50,  4,  2],\n       [ 7, 61,  9],\n       [ 3,  5, 70]])\n",
			TrueRows, TrueRows},
		{"a long row, printed", "[[50  4\n   2]\n [ 7 61\n   9]\n [ 3  5\n  70]]\n", TrueRows, TrueRows},
		{"JSON", "[[50,7,3],[4,61,5],[2,9,70]]", TrueColumns, TrueColumns},
		{"savetxt", "5.000000000000000000e+01 4.000000000000000000e+00 2.000000000000000000e+00\n" +
			"7.0e+00 6.1e+01 9.0e+00\n3.0e+00 5.0e+00 7.0e+01\n", TrueRows, TrueRows},
	} {
		got, err := parseTable("F", []byte(c.text), ReadOptions{Classes: abc, Axes: c.axes})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !slices.Equal(got.V, counted) || got.Kind != Counts || got.Axes != c.want ||
			got.Why == "" || len(got.Notes) != 0 {
			t.Errorf("%s: got %+v, wanted counts %v with %s", c.name, got, counted, c.want)
		}
	}
}

// Names come from either border, and numbers may be names.
func TestReadTableNames(t *testing.T) {
	for _, c := range []struct {
		name, text string
		axes       string
		classes    []string
		want       []float64
	}{
		{"none", "5 1\n2 7\n", TrueColumns, []string{"0", "1"}, []float64{5, 1, 2, 7}},
		{"columns", "x,y\n5,1\n2,7\n", TrueColumns, []string{"x", "y"}, []float64{5, 1, 2, 7}},
		{"rows", "x,5,1\ny,2,7\n", TrueColumns, []string{"x", "y"}, []float64{5, 1, 2, 7}},
		{"numbers at both", ",3,8\n3,5,1\n8,2,7\n", TrueColumns, []string{"3", "8"}, []float64{5, 1, 2,
			7}},
		{"numbers at both, named", "noisy,3,8\n3,5,1\n8,2,7\n", "", []string{"3", "8"}, []float64{5, 1, 2,
			7}},
		{"numbers above", "3,8\n5,1\n2,7\n", TrueColumns, []string{"3", "8"}, []float64{5, 1, 2, 7}},
		{"numbers before", "3,5,1\n8,2,7\n", TrueColumns, []string{"3", "8"}, []float64{5, 1, 2, 7}},
		{"numbers at both, printed", "   3  8\n3  5  1\n8  2  7\n", TrueColumns, []string{"3", "8"},
			[]float64{5, 1, 2, 7}},
		{"a noisy class that never is true", "true,x,y\nx,5,2\n", "", []string{"x", "y"}, []float64{5, 0,
			2, 0}},
		{"a true class that never is given", "true,x\nx,5\ny,2\n", "", []string{"x", "y"}, []float64{5, 2,
			0, 0}},
		{"a comma in a name", "true,\"x, y\",z\n\"x, y\",5,2\nz,1,7\n", "", []string{"x, y", "z"},
			[]float64{5, 1, 2, 7}},
		{"a class called All", "true,All,x\nAll,5,2\nx,1,7\n", "", []string{"All", "x"}, []float64{5, 1,
			2, 7}},
	} {
		got, err := parseTable("F", []byte(c.text), ReadOptions{Axes: c.axes})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if !slices.Equal(got.Classes, c.classes) || !slices.Equal(got.V, c.want) {
			t.Errorf("%s: got %v of %q, wanted %v of %q", c.name, got.V, got.Classes, c.want, c.classes)
		}
	}
	// A margin is a class if the data have it.
	o := ReadOptions{Classes: []string{"x", "y", "All"}}
	got, err := parseTable("F", []byte("true,x,y,All\nx,5,2,0\ny,1,7,0\nAll,0,0,3\n"), o)
	if err != nil || got.V[8] != 3 {
		t.Errorf("a class called All: %v, %v", got, err)
	}
}

// Shares of each true class tell by their sums which axis that is, however they are rounded.
func TestReadTableShares(t *testing.T) {
	for _, c := range []struct {
		name, text string
		axes       string // as found
	}{
		{"columns", ".5,.25,.125\n.375,.5,.125\n.125,.25,.75\n", TrueColumns},
		{"rows", ".5,.375,.125\n.25,.5,.25\n.125,.125,.75\n", TrueRows},
		{"three digits", "0.500 0.250 0.125\n0.375 0.500 0.125\n0.125 0.250 0.750\n", TrueColumns},
		{"two digits", ".5,.38,.13\n.25,.5,.25\n.13,.13,.75\n", TrueRows},
		{"percentages", "50,25,12.5\n37.5,50,12.5\n12.5,25,75\n", TrueColumns},
		{"percent signs", ",a,b,c\na,50%,38%,13%\nb,25%,50%,25%\nc,13%,13%,75%\n", TrueRows},
		{"decimal commas", ";a;b;c\na;0,5;0,25;0,125\nb;0,375;0,5;0,125\nc;0,125;0,25;0,75\n",
			TrueColumns},
		{"crosstab(normalize='index') with a margin",
			"true,a,b,c\na,.5,.375,.125\nb,.25,.5,.25\nc,.125,.125,.75\nAll,.3,.3,.4\n", TrueRows},
		{"crosstab(normalize='columns') with a margin",
			"noisy,a,b,c,All\na,.5,.25,.125,.3\nb,.375,.5,.125,.3\nc,.125,.25,.75,.4\n", TrueColumns},
		{"crosstab(normalize=True)",
			"true,a,b,c,All\na,.2,.15,.05,.4\nb,.05,.1,.05,.2\nc,.05,.05,.3,.4\nAll,.3,.3,.4,1\n", TrueRows},
	} {
		got, err := parseTable("F", []byte(c.text), ReadOptions{Classes: abc})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		m, err := got.Share()
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for k, v := range m.P {
			if math.Abs(v-sample[k]) > 0.01 {
				t.Errorf("%s: got %v, wanted %v", c.name, m.P, sample)
				break
			}
		}
		joint := strings.Contains(c.name, "=True")
		if got.Axes != c.axes || (got.Kind == Joint) != joint || !joint && got.Kind != Shares {
			t.Errorf("%s: got %s with %s, wanted %s", c.name, got.Kind, got.Axes, c.axes)
		}
	}
}

// What numpy saves, of counts as of shares.
func TestReadTableNPY(t *testing.T) {
	got, err := ReadTable("testdata/fortran-f4.npy", ReadOptions{})
	if err != nil || !slices.Equal(got.V, sample) || got.Axes != TrueColumns ||
		!slices.Equal(got.Classes, names012) {
		t.Errorf("got %+v, %v", got, err)
	}
	file := npyFile(npyDict("<f8", "False", "(3, 3)"), float64Bytes(transposed(counted, 3)...))
	got, err = parseTable("F", gzipped(t, file), ReadOptions{Axes: TrueRows})
	if err != nil || !slices.Equal(got.V, counted) || got.Kind != Counts {
		t.Errorf("counts: got %+v, %v", got, err)
	}
	bad := npyFile(npyDict("<f8", "False", "(2, 2)"), float64Bytes(1, math.NaN(), 0, 1))
	_, err = parseTable("F", bad, ReadOptions{})
	wantError(t, err, "F NaN row 0 column 1 0")
	bad = npyFile(npyDict("<f8", "False", "(2, 3)"), nil)
	_, err = parseTable("F", bad, ReadOptions{})
	wantError(t, err, "F shape 2 3 0 bytes")
}

var names012 = []string{"0", "1", "2"}

// Odd tables are read, and said to be odd.
func TestReadTableNotes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"noisy,a,b,c\na,5,0,1\nb,1,0,1\nc,1,0,7\n", "b"},
		{"noisy,a,b,c\na,1,5,9\nb,7,1,1\nc,1,1,1\n", `"a" "b" "c"`},
		{"noisy,a,b,c\na,90,5,9\nb,9,90,1\nc,1,5,90\n", "taken 100"},
	} {
		got, err := parseTable("F", []byte(c.text), ReadOptions{Classes: abc})
		if err != nil || !facts.Told(strings.Join(got.Notes, "; "), c.want) {
			t.Errorf("%q: notes %q, %v; wanted %q", c.text, got.Notes, err, c.want)
		}
	}
	empty, err := parseTable("F", []byte("noisy,a,b\na,5,0\nb,1,0\n"), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = empty.Share()
	wantError(t, err, `"b"`)
	// Counts with a hundred examples of each noisy label are no percentages.
	got, err := parseTable("F", []byte("noisy,a,b\na,90,10\nb,5,95\n"), ReadOptions{})
	if err != nil || got.Kind != Counts {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestReadTableErrors(t *testing.T) {
	const say = ` Options.ConfusionAxes "true-rows" true-columns`
	for _, c := range []struct {
		name, text string
		axes       string
		want       string
	}{
		{"empty", "", "", "F:1 text"},
		{"blank", "\n \n", "", "F:1 text"},
		{"prose", "hello world\n", "", "F:1 numbers"},
		{"zip", "PK\x03\x04...", "", "F zip"},
		{"cut gzip", "\x1f\x8b\x08", "", "F cut"},
		{"names alone", "true,a,b\n", "", "F:1 numbers"},
		{"ragged", "true,a,b\na,5,1\nb,7\n", "", "F:3 1 numbers 2"},
		{"ragged header", "true,a,b,c,d\na,5,1\nb,7,2\n", "", "F:1 5 fields 3 line 2"},
		{"hole", "true,a,b\na,5,\nb,7,2\n", "", "F:2 column 2"},
		{"no number", "true,a,b\na,5,x\nb,7,2\n", "", `F:2 "x" column 2`},
		{"negative", "true,a,b\na,5,-1\nb,7,2\n", "", "F:2 -1 column 2"},
		{"NaN", "true,a,b\na,5,NaN\nb,7,2\n", "", "F:2 NaN column 2"},
		{"infinite", "true,a,b\na,5,1e999\nb,7,2\n", "", "F:2 1e999 column 2"},
		{"zeros", "true,a,b\na,0,0\nb,0,0\n", "", "F zeros"},
		{"broken quotes", "true,a,b\n\"a,5,1\n", "", "F:2 CSV column 8 missing"},
		{"left out by numpy", "[[5 ... 1]\n ...\n [1 ... 7]]", "",
			"F numpy.save numpy.set_printoptions(threshold=sys.maxsize"},
		{"brackets cut", "[[5 1]\n [1 7]", "", "F:2 brackets"},
		{"brackets too deep", "[[[5 1]\n [1 7]]]", "", "F:1 brackets row"},
		{"an empty row", "[[]]", "", "F:1 row number"},
		{"one row", "[5 1]", "", "F:1 brackets"},
		{"not square", "5,1\n2,7\n3,3\n1,1\n", TrueRows, "F 4×2 numbers"},
		{"one class", "true,a\na,5\n", "", `F 1 classes "a" 2`},
		{"a name twice", "true,a,a\na,5,1\na,7,2\n", "", `F rows "a" twice`},
		{"a column twice", "true,a,a\na,5,1\nb,7,2\n", "", `F columns "a" twice`},
		{"no name", "true,a,\na,5,1\n,7,2\n", "", "F name"},
		{"a sum that is wrong", "true,a,b,All\na,5,1,6\nb,7,2,8\nAll,12,3,15\n", "", `F "b" 9 8 missing`},
		{"a column sum that is wrong", "true,a,b,All\na,5,1,6\nb,7,2,9\nAll,12,4,16\n", "",
			`F "b" 3 4 missing`},

		{"counts, no axes", "5,1\n2,7\n", "", "F counts" + say},
		{"joint, no axes", ".5,.1\n.2,.2\n", "", "F shares" + say},
		{"both axes fit", ".5,.25,.25\n.25,.5,.25\n.25,.25,.5\n", "", ``},
		{"both axes fit, not symmetric", ".6,0,.4\n.4,.6,0\n0,.4,.6\n", "",
			`F 1 Options.ConfusionAxes "true-rows"`},
		{"both axes fit badly", ".75,.25\n.5,.25\n", "", "F 0.5 0.75 1 100 missing"},
		{"percentages fit badly", "50%,20%\n30%,70%\n", "", "F 80 70 1 100 missing"},
		{"rows asked, columns fit", ".75,.5\n.25,.5\n", TrueRows, "F 1 1.25 true-columns"},
		{"columns asked, rows fit", ".75,.25\n.5,.5\n", TrueColumns, "F 1 1.25 true-rows"},
		{"named, columns fit", "true,a,b\na,.75,.5\nb,.25,.5\n", "", `F 1 1.25 "true" true-columns`},
		{"asked against the name", "true,a,b\na,5,1\nb,2,7\n", TrueColumns, `F "true" true-columns`},
		{"both axes true", "true/actual,a,b\na,5,1\nb,2,7\n", "", `F "true" "actual"`},
		{"no such axes", "5,1\n2,7\n", "rows", `F "rows"`},
	} {
		got, err := parseTable("F", []byte(c.text), ReadOptions{Axes: c.axes})
		if c.want == "" {
			if err != nil || got.Axes != TrueColumns {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if got != nil || !facts.Told(err, c.want) {
			t.Errorf("%s:\ngot  %v\nwant %s", c.name, err, c.want)
		}
	}
	for text, want := range map[string]string{
		"true,a,d\na,5,1\nd,2,7\n": `F "d" "b" "c"`,
		"5,1\n2,7\n":               `F 2×2 numbers "a" "b" "c"`,
	} {
		_, err := parseTable("F", []byte(text), ReadOptions{Classes: abc})
		wantError(t, err, want)
	}
	_, err := ReadTable("none", ReadOptions{})
	wantError(t, err, "none directory")
	_, err = ReadTable("none", ReadOptions{Classes: []string{"a"}})
	wantError(t, err, `none 1 classes "a" 2`)
}

// Whatever a file says, there is an error that names it or a table that is one.
func FuzzReadTable(f *testing.F) {
	for _, s := range []string{
		"", "true,a,b\na,5,1\nb,2,7\n", "noisy  a  b\ntrue\na  5  1\nb  2  7\n", "[[5 1]\n [2 7]]",
		".5;.5\n.5;.5\n",
		"true,a,b,All\na,5,1,6\nb,7,2,9\nAll,12,3,15\n", "\x1f\x8b\x08", "PK\x03\x04", "\"",
		"50%,50%\n50%,50%\n", "[", "]",
		"All,All,All\nAll,1,1\nAll,2,2\n", "a\nb\n", ",\n,\n", "\ufeff1 0\n\n0 1\n",
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
		got, err := parseTable("F", data, o)
		if err != nil {
			if got != nil || !strings.HasPrefix(err.Error(), "F:") {
				t.Fatalf("table %v with error %q", got, err)
			}
			return
		}
		if err := labelfile.CheckClasses(got.Classes); err != nil || got.Axes == "" || got.Kind == "" ||
			got.Why == "" {
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
