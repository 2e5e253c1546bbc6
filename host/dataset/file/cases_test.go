package file

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// any reads any table.
func anyTable() Table {
	return Table{Encode: &features.EncodeOptions{Missing: dataset.MissingAuto,
		Knots: features.UsualKnots}}
}

// repeated repeats rows so often that a column of them can be judged.
func repeated(header string, rows ...string) string {
	return header + strings.Repeat(strings.Join(rows, "\n")+"\n", 20)
}

// Files that people have are read as they mean them, and what is left out is told.
func TestFilesOfPeople(t *testing.T) {
	model := dataset.Encoding{Missing: dataset.MissingMean, Columns: []dataset.Column{
		{Name: "c", Kind: dataset.KindNumber, Mean: new(float32(5))},
		{Name: "v", Kind: dataset.KindNumber, Mean: new(float32(7))}}}
	known := Options{Table: Table{Encoding: &model}, FeatureNames: []string{"c", "v"},
		Classes: []string{"a", "b"}, MayLackLabels: true}
	any := Options{Table: anyTable()}
	for name, c := range map[string]struct {
		text    string
		o       Options
		n, d    int
		classes []string
		say     string // a part of the notes and warnings
	}{
		"header of years": {repeated("2015,2016,2017,label\n", "1,2,3,a", "4,5,6,b"), any, 40, 3,
			[]string{"a", "b"}, "taken as the header"},
		"numbers and a word": {repeated("", "5,3,7,a", "4,5,6,b"), any, 40, 3, []string{"a", "b"}, ""},
		"header twice": {repeated("x,y,label\n", "1,2,a", "x,y,label", "4,5,b"), any, 40, 2,
			[]string{"a", "b"}, "the header is there again"},
		"quoted header twice": {repeated(`"x","y",l`+"\n", "1,2,a", `"x","y",l`, "4,5,b"), any, 40, 2,
			[]string{"a", "b"}, "the header is there again"},
		"labels that are none": {repeated("x,l\n", "1,1.0", "2,nan", "3,NA", "5,", "6,0.0"), any, 100,
			1, []string{"0.0", "1.0"}, "60 of 100 rows have no label: 2, 3, 4, 7,"},
		"blanks around labels": {repeated("x,l\n", "1,a", "2,a ", "3, b"), any, 60, 1,
			[]string{" b", "a", "a "}, `"a" and "a " are two classes`},
		"labels that look alike": {repeated("x,l\n", "1,a", "2,a\u00a0", "3,b"), any, 60, 1,
			[]string{"a", "a\u00a0", "b"}, "are two classes"},
		"labels of one number": {repeated("x,l\n", "1,7", "2,007", "3,8"), any, 60, 1,
			[]string{"007", "7", "8"}, `"007" and "7" are two classes`},
		"places among numbers": {repeated("x,y,l\n", "00501,2,a", "10001,3,b"), any, 40, 2,
			[]string{"a", "b"}, `numbers such as "00501", which is read as 501`},
		"places beside words": {repeated("x,y,l\n", "00501,u,a", "10001,v,b"), any, 40, 3,
			[]string{"a", "b"}, `numbers such as "00501", which is read as 501`},
		"a truth among numbers": {repeated("x,y,l\n", "1,2,a", "true,5,b", "3,5,b"), any, 60, 2,
			[]string{"a", "b"}, `such as "true", which is read as 1`},
		"a truth beside words": {repeated("x,y,l\n", "No,u,a", "7,v,b", "3,u,b"), any, 60, 3,
			[]string{"a", "b"}, `such as "No", which is read as 0`},
		"truths and 0": {repeated("x,l\n", "yes,a", "0,b", "1,b"), any, 60, 1, []string{"a", "b"}, ""},
		"numbers beyond 2^53": {repeated("x,l\n", "9007199254740993,a", "9007199254740995,b"), any, 40,
			1, []string{"a", "b"}, `"9007199254740993", which is read as 9007199254740992`},
		"spellings of numbers in LIBSVM": {repeated("", "+1 1:2", "-1 1:3", "1 1:4", "1.0 1:5"),
			Options{Format: "libsvm"}, 80, 1, []string{"-1", "+1"}, ""},
		"other spellings of classes": {repeated("x,l\n", "1,1.0", "2, 2"),
			Options{Classes: []string{"2", "1"}}, 40, 1, []string{"2", "1"}, ""},
		"an empty class":       {"x,l\n1,\n2,b\n", Options{Classes: []string{"", "b"}}, 2, 1, []string{"", "b"}, ""},
		"lines that end in CR": {strings.ReplaceAll(repeated("x,y,l\n", "1,2,a", "2,3,b"), "\n", "\r"), any, 40, 2, []string{"a", "b"}, ""},
		"LIBSVM that ends in CR": {strings.ReplaceAll(repeated("", "1 1:2", "2 1:3"), "\n", "\r"),
			Options{Format: "libsvm"}, 40, 1, []string{"1", "2"}, ""},
		"dates": {repeated("d,l\n", "2024-01-01,a", "2024-02-01 10:00:00,b",
			"2025-12-24T01:02:03+01:00,c"),
			any, 60, 1, []string{"a", "b", "c"}, "seconds since 1970"},
		"other dates": {repeated("d,x,l\n", "1.2.2024,1,a", "1.3.2024,2,b"), any, 40, 1,
			[]string{"a", "b"}, "set aside"},
		"a gap at prediction":       {"c,v\n1,\n2,3\n", known, 2, 2, nil, "their mean stands for them"},
		"more columns":              {"more,v,c,x\n1,2,3,9\n2,3,4,9\n", known, 2, 2, nil, "x"},
		"an empty column of labels": {"c,v,label\n1,2,\n3,4,\n", known, 2, 2, nil, "label"},
		"some labels":               {"c,v,label\n1,2,a\n3,4,\n", known, 2, 2, nil, "label"},
		"labels":                    {"c,v,label\n1,2,b\n3,4,a\n", known, 2, 2, []string{"a", "b"}, ""},
	} {
		d, err := readText("f", c.text, c.o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		classes, said := d.Classes, fmt.Sprint(d.Notes, d.Warnings, d.SkippedErrs)
		if d.Y == nil {
			classes = nil
		}
		if d.N != c.n || d.D != c.d || !slices.Equal(classes, c.classes) ||
			!strings.Contains(said, c.say) {
			t.Errorf("%s: found %d × %d of %q, said %s", name, d.N, d.D, classes, said)
		}
	}
}

// Numbers far from zero get an origin in every format, and a reader for their model takes it.
func TestOrigins(t *testing.T) {
	values := []float64{1.7e12, 1.7e12 + 1, 1.7e12 + 3, math.Nextafter(1e9, 2e9)}
	raw := npyfile.Header("<f8", 2, 2)
	var text strings.Builder
	text.WriteString("t,x,l\n")
	for i := range 2 {
		fmt.Fprintf(&text, "%v,%v,%d\n", int64(values[i]), values[2+i], i)
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(values[i]))
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(values[2+i]))
	}
	for name, c := range map[string]struct {
		text string
		o    Options
	}{
		"csv":     {text.String(), Options{}},
		"any":     {text.String(), Options{Table: anyTable()}},
		"packed":  {pack(t, text.String()), Options{}},
		"npy":     {string(raw), Options{NoLabels: true}},
		"mixed":   {strings.ReplaceAll(strings.ReplaceAll(text.String(), ",", ",w,"), "t,w,x,w,l", "t,w,x,u,l"), Options{Table: anyTable()}},
		"Fortran": {fortran(values), Options{NoLabels: true}},
	} {
		d, err := readText("f", c.text, c.o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		d.Examples = d.Dense()
		origins := slices.DeleteFunc(d.Encoding.Origins(), func(v float64) bool { return v == 0 })
		if len(origins) == 0 || d.X[0]+1 != d.X[d.D] {
			t.Errorf("%s: found %v behind %v", name, d.X, origins)
		}
		c.o.Encoding, c.o.Encode = d.Encoding, nil
		again, err := readText("f", c.text, c.o)
		if err != nil {
			t.Fatalf("%s for a model: %v", name, err)
		}
		if again.Examples = again.Dense(); !slices.Equal(again.X, d.X) {
			t.Errorf("%s for a model: found %v, wanted %v", name, again.X, d.X)
		}
	}
}

// A copy keeps numbers behind origins, or says that its format cannot.
func TestOriginsWritten(t *testing.T) {
	d, err := readText("f", "t,x,l\n1700000000001,1,a\n1700000000003,2,b\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"o.csv", "o.npz"} {
		path := filepath.Join(t.TempDir(), name)
		if err := Write(t.Context(), path, d, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		again, err := Read(t.Context(), path, Options{})
		if err != nil || again.SHA256 != d.SHA256 || !slices.Equal(again.Encoding.Origins(),
			d.Encoding.Origins()) {
			t.Errorf("%s: %v, %v behind %v", name, err, again.X, again.Encoding.Origins())
		}
	}
	err = Write(t.Context(), filepath.Join(t.TempDir(), "o.svm"), d, WriteOptions{})
	if err == nil || !strings.Contains(err.Error(), "column 1 (t) is kept relative to 1700000000002") {
		t.Errorf("LIBSVM: %v", err)
	}
}

// Whole numbers that float64 rounds are read, and a note says so.
func TestRoundedNumbers(t *testing.T) {
	type row struct {
		Far   int64  `parquet:"far"`
		Large uint64 `parquet:"large"`
	}
	const most = 1 << 53
	for v, say := range map[int64]string{most + 1: "9007199254740992", -most - 1: "-9007199254740992",
		most: "", -most: "", most + 2: "", math.MaxInt64: "9223372036854775808"} {
		array := string(npyfile.Header("<i8", 1, 1)) +
			string(binary.LittleEndian.AppendUint64(nil, uint64(v)))
		var b bytes.Buffer
		if err := parquet.Write(&b, []row{{v, uint64(v)}}); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"f.npy": array, "f.parquet": b.String(),
			"f.csv": fmt.Sprintf("far,b\n%d,1\n", v)} {
			d, err := readText(name, text, Options{NoLabels: true, Table: anyTable()})
			if err != nil {
				t.Fatal(err)
			}
			wanted, said := "which is read as "+say, strings.Join(d.Notes, " ")
			if name == "f.npy" {
				wanted = "rounded, one of them to " + say
			}
			if say != "" && !strings.Contains(said, wanted) ||
				say == "" && strings.Contains(said, "far has numbers") {
				t.Errorf("%s, %d: said %q, wanted %q", name, v, said, wanted)
			}
		}
	}
}

// An array with gaps is a table of numbers, in any order of its elements.
func TestArrayWithGaps(t *testing.T) {
	values := []float64{1.7e12, 1.7e12 + 1, 3, math.NaN()}
	c := npyfile.Header("<f8", 2, 2)
	for _, k := range []int{0, 2, 1, 3} {
		c = binary.LittleEndian.AppendUint64(c, math.Float64bits(values[k]))
	}
	var want []float32
	for _, text := range []string{string(c), fortran(values)} {
		d, err := readText("f.npy", text, Options{NoLabels: true, Table: anyTable()})
		if err != nil {
			t.Fatal(err)
		}
		x := d.Dense().X
		if len(x) != 6 || x[3]-x[0] != 1 || x[5] != 1 || want != nil && !slices.Equal(x, want) {
			t.Errorf("found %v, wanted %v", x, want)
		}
		want = x
	}
}

// fortran is an array of two rows in Fortran's order.
func fortran(values []float64) string {
	header := strings.Replace(string(npyfile.Header("<f8", 2, 2)), "False", "True ", 1)
	raw := []byte(header)
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
	}
	return string(raw)
}

// Columns that float32 tells apart, or that are float32, keep their bits.
func TestNoOrigin(t *testing.T) {
	for _, text := range []string{
		"x,l\n16777216,a\n16777218,b\n", // float32
		"x,l\n0.1,a\n0.1,b\n",           // of one value
		"x,l\n0.1,a\n1.7,b\n",           // near
		"x,l\n0,a\n1700000000001,b\n",   // with zero
	} {
		d, err := readText("f", text, Options{})
		if err != nil || d.Encoding != nil {
			t.Errorf("%q: found the encoding %v, %v", text, d.Encoding, err)
		}
	}
	for _, o := range []Options{{Exact: true}, {Exact: true, Table: anyTable()}} {
		d, err := readText("f", "x,l\n16777216,a\n16777217,b\n0,a\n16777217,b\n", o)
		if err != nil || !strings.Contains(fmt.Sprint(d.Notes),
			"column 1 (x): the different values 16777216 and 16777217 become equal") {
			t.Fatalf("found the notes %v, %v", d.Notes, err)
		}
		if about := dataset.Describe(d); about.Duplicates != 1 || about.Max != 16777216 {
			t.Errorf("found %d duplicates and the maximum %v, wanted 1", about.Duplicates, about.Max)
		}
	}
}

// Texts, dates and gaps of Parquet are read as in a CSV.
func TestParquetOfPeople(t *testing.T) {
	type row struct {
		Day   int32     `parquet:"day,date"`
		When  time.Time `parquet:"when,timestamp(millisecond)"`
		Far   int64     `parquet:"far"`
		Gap   *float64  `parquet:"gap,optional"`
		Said  string    `parquet:"said"`
		Label string    `parquet:"label"`
	}
	var rows []row
	for i := range 40 {
		r := row{int32(19000 + i), time.UnixMilli(1.7e12 + int64(i)), 1e15 + int64(i), new(0.5),
			fmt.Sprint("here is a sentence about ", i, " words"), string(rune('a' + i%2))}
		if i == 7 {
			r.Gap = nil
		}
		rows = append(rows, r)
	}
	var b bytes.Buffer
	if err := parquet.Write(&b, rows); err != nil {
		t.Fatal(err)
	}
	d, err := readText("f.parquet", b.String(), Options{Table: anyTable()})
	if err != nil {
		t.Fatal(err)
	}
	said := fmt.Sprint(d.Notes)
	x := d.Dense()
	at := slices.Index(d.Features, "far")
	day := slices.Index(d.Features, "day")
	when := slices.Index(d.Features, "when")
	if d.N != 40 || !d.Encoding.HasText() || x.Row(1)[at]-x.Row(0)[at] != 1 ||
		x.Row(1)[day]-x.Row(0)[day] != 86400 || math.Abs(float64(x.Row(1)[when]-x.Row(0)[when]-0.001)) >
		1e-6 || !strings.Contains(said, "sentences") || len(d.Missing) != 1 {
		t.Errorf("found %v of %v, said %s", x.Row(1), d.Features, said)
	}
}
