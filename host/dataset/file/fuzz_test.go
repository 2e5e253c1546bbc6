package file

import (
	"bytes"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
)

// fuzzLimits keep a fuzzer from filling the memory with lawful zeros.
var fuzzLimits = limits{buffer: 64, line: 1 << 20, dense: 1 << 14, perByte: 64, whole: 1 << 24,
	window: 1 << 20, rows: 1 << 20, columns: math.MaxInt32}

// fuzzMemory is what buffers and tables of unpackers may take whatever the input.
const fuzzMemory = 16 << 20

// wideLimits are the default ones with a buffer that is quickly made.
func wideLimits() limits {
	l := defaultLimits
	l.buffer = 64
	return l
}

// checkRead reads text and, if it is accepted, checks what Read promises and
// that every format that can be written gives it back.
func checkRead(t *testing.T, name string, text []byte, o Options) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d, err := readLimited(name, string(text), o, fuzzLimits)
	runtime.ReadMemStats(&after)
	s, fault := newSource(t.Context(), name, bytes.NewReader(text), fuzzLimits)
	if fault != nil {
		return
	}
	defer s.close()
	io.Copy(io.Discard, s) // which counts what can be unpacked
	// All that was ever asked for, also what was given back.
	if took, most := after.TotalAlloc-before.TotalAlloc,
		64*uint64(s.text)+256*uint64(len(text))+fuzzMemory; took > most {
		t.Fatalf("took %d bytes of memory for %d bytes, %d unpacked; wanted at most %d", took, len(text),
			s.text, most)
	}
	if err != nil {
		if err.Error() == "" {
			t.Fatal("an error without words")
		}
		return
	}
	if err := d.CheckAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d.N == 0 || d.SHA256 != d.Hash() || (d.Y == nil) != o.NoLabels {
		t.Fatalf("read %+v", d)
	}
	for k, v := range slices.Concat(d.X, d.Values) {
		if v != 0 && math.Abs(float64(v)) < decimal.MinNormal {
			t.Fatalf("value %d is subnormal", k)
		}
	}
	if d.Features != nil {
		d.IDs = nil // whose column a feature may be named after
	}
	for _, f := range formats() {
		if f.write == nil || ((f.name == "csv" || f.name == "npy") && d.N*d.D > 1<<16) {
			continue
		}
		var b bytes.Buffer
		put := func(_ string, write func(io.Writer) error) error { return write(&b) }
		if err := Write(t.Context(), "f", d, WriteOptions{Format: f.name, Put: put}); err != nil {
			continue // what the format cannot hold
		}
		header := "no"
		if d.Features != nil {
			header = "yes"
		}
		o := Options{Format: f.name, Table: Table{Header: header}, NoLabels: o.NoLabels,
			Classes: d.Classes, Features: d.D}
		if d.IDs != nil && f.name == "csv" {
			_, at, _ := positions(d, WriteOptions{})
			o.IDColumn = strconv.Itoa(at + 1)
		}
		back, err := readLimited("f", b.String(), o, wideLimits())
		if err != nil {
			t.Fatalf("%s: cannot read back: %v", f.name, err)
		}
		if back.SHA256 != d.SHA256 {
			t.Fatalf("%s: %+v came back as %+v", f.name, d, back)
		}
	}
}

func FuzzReadCSV(f *testing.F) {
	for _, text := range []string{
		"1,2,a\n3,4,b\n", "x,y,class\r\n1,2,a\r\n3,4,b", "\ufeffx\ty\n1\ta\n2\tb\n", "1;2;5\n1;2;6",
		"\"1\",\"a\"\"b\"\n2,c\n",
		"\"x\ny\",z\n1,a\n2,b\n", "1e-40,-0,a\n3.4e38,.5,b\n", "1,nan,a\n", "1,2\n1,2,3\n",
		"\x1f\x8b\x08",
		",,\n", "1,\"a\n",
		"0,1,2\n3,4,5\n", "class,1x1\na,1\nb,2\n", "# c\nx y  class\n 1 2\ta\n#\n3 4 b\n",
		"#x,y\n#1,2\n3,4\n# \"e\n",
		"\xff\xfex\x00,\x00y\x00\n\x001\x00,\x00a\x00\n\x002\x00,\x00b\x00",
		"x;y;class\n1,5;2;a\n\"2,5\";-0,1;b\n",
	} {
		for _, column := range []string{"", "first", "class", "2"} {
			f.Add([]byte(text), column, false)
		}
		f.Add([]byte(text), "", true)
	}
	f.Fuzz(func(t *testing.T, text []byte, column string, noLabels bool) {
		for _, header := range []string{"auto", "yes", "no"} {
			checkRead(t, "f.tsv", text, Options{Format: "csv",
				Table: Table{LabelColumn: column, Header: header}, NoLabels: noLabels})
		}
		checkRead(t, "f", text, Options{Table: Table{LabelColumn: column}, NoLabels: noLabels,
			Features: 2})
		checkRead(t, "f", text, Options{Table: Table{LabelColumn: column}, NoLabels: noLabels})
		checkRead(t, "f", text, Options{Table: Table{LabelColumn: column, IDColumn: "first",
			Decimal: decimalComma}, NoLabels: noLabels})
		checkRead(t, "f", text, Options{Table: Table{LabelColumn: column, Separator: "blanks",
			Encode: &features.EncodeOptions{Missing: "mean",
				Text: features.TextOptions{Columns: []string{"1"}}}},
			NoLabels: noLabels})
	})
}

func FuzzReadLIBSVM(f *testing.F) {
	for _, text := range []string{
		"a 1:1 2:2\nb 1:3 2:4\n", "# c\n+1\n-1 3:7 # x\r\n", "1 0:1\n", "1 2:1 1:1\n",
		"1 2000000000:1\n2\n", "1,2 3:4\n",
		"1:1 2:2\n", "a 1:1e-40\nb 5:-0\n", "a 1:nan\n", "a qid:1 1:1\n", "\ufeffa\t1:1\nb 1:0\n",
		"\x1f\x8b\x08",
		"a 99999999999:1\n",
	} {
		f.Add([]byte(text), uint8(0), false)
		f.Add([]byte(text), uint8(3), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, features uint8, noLabels bool) {
		checkRead(t, "f", text, Options{Format: "libsvm", Features: int(features), NoLabels: noLabels})
		checkRead(t, "f.svm", text, Options{Features: int(features), NoLabels: noLabels})
	})
}

// addGolden adds the golden files with one of these ends, plain and packed.
func addGolden(f *testing.F, ends ...string) {
	files, err := os.ReadDir("testdata")
	if err != nil {
		f.Fatal(err)
	}
	added := 0
	for _, file := range files {
		for _, end := range ends {
			if !strings.HasSuffix(file.Name(), end) {
				continue
			}
			raw, err := os.ReadFile(golden(file.Name()))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(raw)
			if added == 0 {
				f.Add(zstdPack(f, raw))
			}
			added++
		}
	}
	if added == 0 {
		f.Fatal("no seeds")
	}
}

func FuzzReadNPY(f *testing.F) {
	addGolden(f, ".npy")
	f.Fuzz(func(t *testing.T, raw []byte) {
		checkRead(t, "f.npy", raw, Options{NoLabels: true})
		checkRead(t, "f.npy", raw, Options{NoLabels: true, Storage: "dense", SkipBad: math.MaxInt})
		checkLabels(t, raw)
	})
}

func FuzzReadNPZ(f *testing.F) {
	addGolden(f, ".npz")
	f.Fuzz(func(t *testing.T, raw []byte) {
		checkRead(t, "f.npz", raw, Options{})
		checkRead(t, "f.npz", raw, Options{NoLabels: true, SkipBad: math.MaxInt, Features: 5})
		checkRead(t, "f.npz", raw, Options{NoLabels: true, Storage: "sparse"})
	})
}

func FuzzReadIDX(f *testing.F) {
	addGolden(f, "-idx2", "-ubyte", "-ubyte.gz")
	f.Fuzz(func(t *testing.T, raw []byte) {
		checkRead(t, "f", raw, Options{NoLabels: true, Format: "idx"})
		checkRead(t, "f", raw, Options{NoLabels: true, Storage: "dense", SkipBad: math.MaxInt})
		checkLabels(t, raw)
	})
}

func FuzzReadParquet(f *testing.F) {
	rows, _ := parquetRows(9)
	f.Add(parquetBytes(f, 3))
	f.Add(benchParquet(f, []float32{1, 2, 3, 4}, 2))
	f.Add(writeParquet(f, rows))
	f.Add([]byte(decimalParquet(f)))
	f.Add(writeParquet(f, rows, parquet.Compression(&parquet.Snappy), parquet.DataPageVersion(1),
		parquet.MaxRowsPerRowGroup(4)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		checkRead(t, "f.parquet", raw, Options{})
		checkRead(t, "f.parquet", raw, Options{NoLabels: true, Table: Table{Ignore: []string{"first"}},
			SkipBad: math.MaxInt})
		checkRead(t, "f.parquet", raw, Options{Table: Table{IDColumn: "2",
			Encode: &features.EncodeOptions{Missing: "mean",
				Text: features.TextOptions{Columns: []string{"3"}}}}})
	})
}

func FuzzReadLabels(f *testing.F) {
	for _, text := range []string{"a\nb\n", "label\n1\n2\n", "p,q\n1,\"b\"\n2,c\n", "1,2\n3\n",
		"\"a\n", "", "\ufeff\r\n1"} {
		f.Add([]byte(text))
	}
	f.Fuzz(checkLabels)
}

// checkLabels reads raw as labels in several ways.
func checkLabels(t *testing.T, raw []byte) {
	t.Helper()
	for _, o := range []Options{{}, {Table: Table{LabelColumn: "q"}}, {Table: Table{LabelColumn: "2"},
		SkipBad: math.MaxInt}, {Classes: []string{"a", "1"}}} {
		s, err := newSource(t.Context(), "labels", bytes.NewReader(raw), fuzzLimits)
		if err != nil {
			return
		}
		e, err := readLabelSource(s, o)
		s.close()
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without words")
			}
			continue
		}
		for k, code := range e.codes {
			if int(code) >= len(e.names) || code < 0 && e.faults[k] == nil {
				t.Fatalf("label %d is %d of %d", k, code, len(e.names))
			}
		}
	}
}
