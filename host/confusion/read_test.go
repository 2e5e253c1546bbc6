package confusion

import (
	"errors"
	"io/fs"
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

// save writes a file into a fresh folder and returns its path.
func TestReadText(t *testing.T) {
	for _, c := range []struct {
		name, text string
		trueRows   bool
	}{
		{"named", "noisy\\true,a,b,c\na,.5,.25,.125\nb,.375,.5,.125\nc,.125,.25,.75\n", false},
		{"named, other order", "noisy\\true,c,a,b\nb,.125,.375,.5\nc,.75,.125,.25\na,.125,.5,.25\n",
			false},
		{"named, true rows", "true\\noisy,c,b,a\nb,.25,.5,.25\na,.125,.375,.5\nc,.75,.125,.125\n", true},
		{"named, quoted, CRLF, BOM, no last newline",
			"\ufeff\"noisy\\true\",\"a\",b,c\r\n\"a\",\".5\",.25,.125\r\nb,.375,.5,.125\r\nc,.125,.25,.75",
			false},
		{"named, blank lines and spaces around numbers",
			"\nnoisy\\true,a,b,c\n\na, .5 , .25,.125\nb,.375,.5,.125\nc,.125,.25,.75\n\n", false},
		{"bare, commas", ".5,.25,.125\n.375,.5,.125\n.125,.25,.75\n", false},
		{"bare, commas and spaces", " 0.5, 0.25, 0.125\n 0.375, 0.5, 0.125\n 0.125, 0.25, 0.75", false},
		{"bare, semicolons", ".5;.25;.125\n.375;.5;.125\n.125;.25;.75\n", false},
		{"bare, tabs", ".5\t.25\t.125\n.375\t.5\t.125\n.125\t.25\t.75\n", false},
		{"bare, spaces, CRLF, blank lines",
			"\r\n.5  .25 .125\r\n\r\n.375 .5 .125\r\n.125 .25 .75\r\n\r\n", false},
		{"bare, numpy.savetxt", "5.0e-01 2.5e-01 1.25e-01\n3.75e-01 5e-01 1.25E-1\n+.125 .25 .75\n",
			false},
		{"bare, semicolons and decimal commas", "0,5;0,25;0,125\n0,375;0,5;0,125\n0,125;0,25;0,75\n",
			false},
		{"lists", "[[.5, .25, .125], [.375, .5, .125], [.125, .25, .75]]", false},
		{"bare, true rows", ".5,.375,.125\n.25,.5,.25\n.125,.125,.75\n", true},
	} {
		for kind, data := range map[string][]byte{"plain": []byte(c.text), "gzip": gzipped(t,
			[]byte(c.text))} {
			m, err := Read(save(t, "c.csv", data), ReadOptions{Classes: abc, Axes: axesFor(c.trueRows)})
			if err != nil {
				t.Errorf("%s, %s: %v", c.name, kind, err)
			} else if !slices.Equal(m.P, sample) || !slices.Equal(m.Classes, abc) {
				t.Errorf("%s, %s: got %v of %v, wanted %v of %v", c.name, kind, m.P, m.Classes, sample, abc)
			}
		}
	}
}

func TestReadNamesWithCommas(t *testing.T) {
	classes := []string{`x,"y"`, " z"}
	m, err := Read(save(t, "c",
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

// Tables as pandas and scikit-learn's users have them: names or sums tell the axes, and counts
// become shares.
func TestReadTablesOfPandas(t *testing.T) {
	for name, text := range map[string]string{
		"crosstab(noisy, true, normalize=columns)": "noisy,a,b\na,.75,.5\nb,.25,.5\n",
		"crosstab(true, noisy, normalize=index)":   "true,a,b\na,.75,.25\nb,.5,.5\n",
		"crosstab(true, noisy)":                    "true,a,b\na,75,25\nb,50,50\n",
		"crosstab of other names":                  "label,a,b\na,.75,.5\nb,.25,.5\n",
		"DataFrame without a corner":               ",a,b\na,.75,.25\nb,.5,.5\n",
		"names above alone":                        "a,b\n.75,.5\n.25,.5\n",
		"names before alone":                       "a,.75,.5\nb,.25,.5\n",
		"corner":                                   "true\\noisy,a,b\na,.75,.25\nb,.5,.5\n",
		"percentages":                              "noisy\\true,a,b\na,75%,50%\nb,25%,50%\n",
	} {
		m, err := Read(save(t, "c", []byte(text)), ReadOptions{Classes: []string{"a", "b"}})
		if err != nil || !slices.Equal(m.P, []float64{.75, .5, .25, .5}) {
			t.Errorf("%s: got %v, %v", name, m, err)
		}
	}
}

// Where both sum to 1 and no name tells the axes, they must be said.
func TestReadAmbiguousTable(t *testing.T) {
	path := save(t, "c", []byte(",a,b,c\na,.5,.35,.15\nb,.15,.5,.35\nc,.35,.15,.5\n"))
	if _, err := Read(path, ReadOptions{}); !facts.Told(err, `Options.ConfusionAxes "true-rows"`) {
		t.Errorf("got %v", err)
	}
	m, err := Read(path, ReadOptions{Axes: TrueRows})
	if err != nil || m.P[1] != .15 {
		t.Errorf("got %v, %v", m, err)
	}
}

func TestReadTextErrors(t *testing.T) {
	const named = "noisy\\true,a,b\na,.75,.5\nb,.25,.5\n"
	for _, c := range []struct {
		name, text string
		trueRows   bool
		place      string // after the path
		fact       string
	}{
		{"empty", "", false, ":1: ", "text"},
		{"blank", "\n \n", false, ":1: ", "text"},
		{"prose", "\nhello world\n", false, ":2: ", "names numbers"},
		{"no corner", ",a,b\na,.75,.5\nb,.25,.5\n", true, ": ", `"a" 1.25`},
		{"counts, no corner", ",a,b\na,90,10\nb,20,80\n", false, ": ",
			`counts Options.ConfusionAxes "true-rows"`},
		{"zip", "PK\x03\x04...", false, ": ", "zip"},

		{"corner against the option", named, true, ": ",
			`"noisy" Options.ConfusionAxes "true-rows"`},
		{"semicolons", "noisy\\true;a;b\n", false, ":1: ", "names numbers"},
		{"header short", "noisy\\true,a\na,1\n", false, ": ", `"b"`},
		{"header twice", "noisy\\true,a,b,a\na,1,0,0\nb,0,1,0\n", false, ": ", `"a" twice`},
		{"header of others", "noisy\\true,a,d,e\na,1,0,0\n", false, ": ", `"d" "e" "b"`},
		{"header with one more", "noisy\\true,a,b,d\na,1,0,0\nb,0,1,0\n", false, ": ", `"d" "a" "b"`},
		{"space before a name", "noisy\\true,a, b\na,1,0\nb,0,1\n", false, ": ", `b" "b"`},
		{"header alone", "noisy\\true,a,b\n", false, ":1: ", "names numbers"},
		{"row missing", "noisy\\true,a,b\nb,.25,.5\n", false, ": ", `"a"`},
		{"row of another", named + "d,0,0\n", false, ": ", `"d"`},
		{"row twice", named + "\na,0,0\n", false, ": ", `"a" twice`},
		{"row ragged", "noisy\\true,a,b\na,.75\n", false, ":1: ", "3 fields 2"},
		{"last row ragged", "noisy\\true,a,b\na,.75,.25\nb,1\n", false, ":3: ", "1 numbers 2"},
		{"no number", "noisy\\true,a,b\na,.75,x1\n", false, ":2: ", `"x1" column 2`},
		{"no entry", "noisy\\true,a,b\na,,1\n", false, ":2: ", "column 1"},
		{"broken quote", "noisy\\true,a,b\n\"a,.75,.5\n", false, ":2: ", "CSV column 11"},
		{"quote inside", "noisy\\true,a,b\na,.7\"5,.5\n", false, ":2: ", "CSV column 5"},

		{"not square: wide", "1,0,0\n0,1,0\n", false, ": ", "2×3 numbers"},
		{"not square: short", "1,0\n\n", false, ": ", "1×2 numbers"},
		{"not square: long", "1,0\n0,1\n0,0\n", false, ": ", "3×2 numbers"},
		{"not square: longer", "1,0\n0,1\n0,0\n0,0\n", false, ": ", "4×2 numbers"},
		{"ragged", "1 0\n0\n", false, ":1: ", "2 fields 1"},
		{"separators mixed", "1,0\n0 1\n", false, ":1: ", "2 fields 1"},
		{"number cut by a space", "1,0\n0,1 2\n", false, ":2: ", `"1 2" column 2`},
		{"hole", "1,\n0,1\n", false, ": ", `"a" "b"`},
		{"hole inside", "1,0\n0,\n", false, ":2: ", "column 2"},
		{"trailing junk", "1,0\n0,1x\n", false, ":2: ", `"1x" column 2`},
		{"percent", "50,60\n50,40\n", false, ": ", `P(noisy = "a" = "a" 50`},
		{"negative", "1,-.1\n0,1.1\n", false, ":1: ", "-.1 column 2"},
		{"NaN", "NaN,0\n0,1\n", false, ":1: ", "NaN column 1"},
		{"Inf", "1,0\n0,-Inf\n", false, ":2: ", "-Inf column 2"},
		{"too large", "1,0\n0,1e999\n", false, ":2: ", "1e999 column 2"},
		{"hexadecimal", "1,0x1p-2\n0,1\n", false, ":1: ", `"0x1p-2" column 2`},
		{"one row of decimal commas", "0,9;0,1\n", false, ": ", "1×2 numbers"},

		{"transposed", ".75,.25\n.5,.5\n", false, ": ", `Options.ConfusionAxes "true-rows"`},
		{"transposed by the option", ".75,.5\n.25,.5\n", true, ": ", "noisy Options.ConfusionAxes"},
		{"neither", ".75,.25\n.5,.25\n", false, ": ", `"a" 1.25`},
	} {
		path := save(t, "c.csv", []byte(c.text))
		m, err := Read(path, ReadOptions{Classes: []string{"a", "b"}, Axes: axesFor(c.trueRows)})
		if m != nil {
			t.Errorf("%s: got a matrix", c.name)
		}
		if err == nil || !strings.HasPrefix(err.Error(), path+c.place) || !facts.Told(err, c.fact) {
			t.Errorf("%s:\ngot  %v\nwant %s%s...%s", c.name, err, path, c.place, c.fact)
		}
	}
}

func TestReadManyMissingClasses(t *testing.T) {
	path := save(t, "c.csv", []byte("noisy\\true,c0\nc0,1\n"))
	_, err := Read(path, ReadOptions{Classes: names(14)})
	wantError(t, err, path+` "c1" "c2" "c3" "c4" "c5" "c6" "c7" "c8" "c9" "c10" 3`)
}

func TestReadFileErrors(t *testing.T) {
	dir := t.TempDir()
	two := ReadOptions{Classes: []string{"a", "b"}}
	missing := filepath.Join(dir, "none.csv")
	_, err := Read(missing, two)
	if !errors.Is(err, fs.ErrNotExist) || !facts.Told(err, missing) {
		t.Errorf("a missing file: %v", err)
	}
	_, err = Read(dir, two)
	wantError(t, err, dir+" directory")
	_, err = Read(missing, ReadOptions{Classes: []string{"a"}})
	wantError(t, err, missing+` 1 classes "a" 2`)

	whole := gzipped(t, []byte("1,0\n0,1\n"))
	cut := save(t, "cut.csv.gz", whole[:len(whole)-9])
	_, err = Read(cut, two)
	wantError(t, err, cut+" cut")
	whole[len(whole)-6] ^= 1
	damaged := save(t, "damaged.csv.gz", whole)
	_, err = Read(damaged, two)
	wantError(t, err, damaged+" checksum")
	stub := save(t, "stub.gz", []byte("\x1f\x8b"))
	_, err = Read(stub, two)
	wantError(t, err, stub+" cut")

	big := []byte(strings.Repeat("1,0\n", 300_000))
	large := save(t, "large.csv", big)
	_, err = Read(large, two)
	wantError(t, err, large+" 1049120 bytes")
	bomb := save(t, "bomb.csv.gz", gzipped(t, big))
	_, err = Read(bomb, two)
	wantError(t, err, bomb+" 1049120 bytes")
}

// axesFor returns the axes of a file whose rows are true classes, or noisy ones.
func axesFor(trueRows bool) string {
	if trueRows {
		return TrueRows
	}
	return ""
}
