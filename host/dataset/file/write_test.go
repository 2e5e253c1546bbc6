package file

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// randomDataset returns examples as files may hold them: any finite float32 but
// subnormals, many zeros, some -0, empty rows and empty columns.
func randomDataset(rng *rand.Rand, n, d int, classes []string) *dataset.Dataset {
	ds := &dataset.Dataset{Examples: dataset.Examples{N: n, D: d, X: make([]float32, n*d)},
		Y: make([]int32, n), Classes: classes}
	for i := range n {
		ds.Y[i] = int32(i % len(classes))
		for j := range d {
			x := &ds.X[i*d+j]
			switch k := rng.IntN(10); {
			case i%7 == 3 || j%5 == 4 || k < 4:
			case k == 4:
				*x = float32(math.Copysign(0, -1))
			case k == 5:
				*x = float32(rng.IntN(256))
			case k == 6:
				*x = []float32{math.MaxFloat32, -math.MaxFloat32, decimal.MinNormal, -decimal.MinNormal, 1e21,
					1e20, 16777216, 1e-5}[rng.IntN(8)]
			default:
				for !decimal.Finite(*x) || math.Abs(float64(*x)) < decimal.MinNormal {
					*x = math.Float32frombits(rng.Uint32())
				}
			}
		}
	}
	return ds
}

func TestWriteReadsBackEqual(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	dir := t.TempDir()
	for trial, shape := range []struct{ n, d int }{{2, 1}, {3, 4}, {30, 5}, {100, 17}, {40, 300}} {
		d := randomDataset(rng, shape.n, shape.d, []string{"-1", "0", "01", "1"}[:2+trial%3*min(1,
			shape.n/30)])
		if trial%2 == 1 {
			for j := range d.D {
				d.Features = append(d.Features, fmt.Sprintf(" a \"%d\",;\tü", j))
			}
			d.Label = "the, class"
		}
		wantHash := d.Hash()
		for _, name := range []string{"a.csv", "a.csv.gz", "a.tsv", "a.data", "a.svm", "a.libsvm.gz",
			"a.svmlight", "a.npz", "a.npz.gz"} {
			for _, column := range []string{"", "first", "last", "2"} {
				path := filepath.Join(dir, name)
				if err := Write(t.Context(), path, d, WriteOptions{LabelColumn: column}); err != nil {
					t.Fatal(err)
				}
				got, err := Read(t.Context(), path, Options{Table: Table{LabelColumn: column}})
				if err != nil {
					t.Fatalf("%s, label %q: %v", name, column, err)
				}
				if got.SHA256 != wantHash || got.Hash() != wantHash {
					t.Errorf("%s, label %q: hash %s, wanted %s", name, column, got.SHA256, wantHash)
				}
				for k, v := range d.X {
					if math.Float32bits(got.X[k]) != math.Float32bits(v) {
						t.Fatalf("%s: value %d is %x, wanted %x", name, k, math.Float32bits(got.X[k]),
							math.Float32bits(v))
					}
				}
				if !reflect.DeepEqual(got.Y, d.Y) || !reflect.DeepEqual(got.Classes, d.Classes) ||
					got.Subnormals != 0 {
					t.Errorf("%s: labels, classes or count of subnormals differ", name)
				}
				if formatOfName(name) == "csv" && d.Features != nil {
					if got.Label != d.Label || strings.TrimSpace(d.Features[0]) != got.Features[0] {
						t.Errorf("%s: header %q, %q", name, got.Label, got.Features)
					}
					want := map[string]int{"": d.D + 1, "last": d.D + 1, "first": 1, "2": 2}[column]
					if got.LabelColumn != want {
						t.Errorf("%s: label column %d, wanted %d", name, got.LabelColumn, want)
					}
				}
			}
		}
	}
}

func TestWriteExactText(t *testing.T) {
	d := &dataset.Dataset{Examples: examples(3, 1, float32(math.Copysign(0, -1)), 0, 0.1, 1e21, 0),
		Y: []int32{1, 0}, Classes: []string{"a b", "x"}}
	headed, tame, bare := *d, *d, *d
	headed.Features, headed.Label = []string{"p", "q,r", `s"`}, ""
	tame.Classes = []string{"a", "b"}
	bare.Y, bare.Classes = nil, nil
	for _, c := range []struct {
		name string
		d    *dataset.Dataset
		o    WriteOptions
		want string
	}{
		{"f.csv", d, WriteOptions{}, "1,-0,0,x\n0.1,1e+21,0,\"a b\"\n"},
		{"f.csv", d, WriteOptions{LabelColumn: "first"}, "x,1,-0,0\n\"a b\",0.1,1e+21,0\n"},
		{"f.tsv", d, WriteOptions{LabelColumn: "2"}, "1\tx\t-0\t0\n0.1\t\"a b\"\t1e+21\t0\n"},
		{"f.csv", &headed, WriteOptions{}, "p,\"q,r\",\"s\"\"\",label\n1,-0,0,x\n0.1,1e+21,0,\"a b\"\n"},
		{"f.csv", &bare, WriteOptions{}, "1,-0,0\n0.1,1e+21,0\n"},
		{"f.svm", &tame, WriteOptions{}, "b 1:1 2:-0 3:0\na 1:0.1 2:1e+21\n"},
		{"f.csv", &tame, WriteOptions{Format: "libsvm"}, "b 1:1 2:-0 3:0\na 1:0.1 2:1e+21\n"},
		{"f.svm", &bare, WriteOptions{}, "0 1:1 2:-0 3:0\n0 1:0.1 2:1e+21\n"},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		for range 2 { // also over an old file
			if err := Write(t.Context(), path, c.d, c.o); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != c.want {
			t.Errorf("%s %+v:\ngot  %q\nwant %q", c.name, c.o, got, c.want)
		}
	}
}

func TestWriteBad(t *testing.T) {
	good := func() *dataset.Dataset {
		return &dataset.Dataset{Examples: examples(2, 1, 2, 3, 4), Y: []int32{0, 1},
			Classes: []string{"a", "b"}}
	}
	for _, c := range []struct {
		what, name string
		spoil      func(*dataset.Dataset)
		o          WriteOptions
		want       string
	}{
		{"shape", "f.csv", func(d *dataset.Dataset) { d.N = 3 }, WriteOptions{},
			"shape 3×2 4 values"},
		{"negative", "f.csv", func(d *dataset.Dataset) { d.N, d.D = -2, -2 }, WriteOptions{},
			"shape -2×-2 negative"},
		{"no feature", "f.csv", func(d *dataset.Dataset) { d.D, d.X = 0, nil }, WriteOptions{},
			"any"},
		{"labels", "f.csv", func(d *dataset.Dataset) { d.Y = d.Y[:1] }, WriteOptions{},
			"1 labels 2 examples"},
		{"label", "f.csv", func(d *dataset.Dataset) { d.Y[1] = 2 }, WriteOptions{},
			"label 2 example 1 0..1"},
		{"negative label", "f.csv", func(d *dataset.Dataset) { d.Y[1] = -1 }, WriteOptions{},
			"label -1 example 1 0..1"},
		{"names", "f.csv", func(d *dataset.Dataset) { d.Features = []string{"x"} }, WriteOptions{},
			"1 feature 2 features"},
		{"class", "f.csv", func(d *dataset.Dataset) { d.Classes[0] = "a\x00" }, WriteOptions{}, "control"},
		{"no class", "f.csv", func(d *dataset.Dataset) { d.Classes[0] = "NA" }, WriteOptions{}, `"NA" none`},
		{"libsvm number", "f.svm", func(d *dataset.Dataset) { d.Classes = []string{"1", "+1"} }, WriteOptions{},
			`"1" "+1" LIBSVM`},
		{"class twice", "f.csv", func(d *dataset.Dataset) { d.Classes[0] = "b" }, WriteOptions{}, `"b" twice`},
		{"nan", "f.csv", func(d *dataset.Dataset) { d.X[3] = float32(math.NaN()) }, WriteOptions{},
			"example 2 column 2 NaN finite"},
		{"column", "f.csv", func(*dataset.Dataset) {}, WriteOptions{LabelColumn: "4"}, `"4" 1 3`},
		{"column name", "f.csv", func(*dataset.Dataset) {}, WriteOptions{LabelColumn: "class"}, `"class"`},
		{"libsvm space", "f.svm", func(d *dataset.Dataset) { d.Classes[0] = "a b" }, WriteOptions{}, `"a b" LIBSVM`},
		{"libsvm comment", "f.svm.gz", func(d *dataset.Dataset) { d.Classes[0] = "#a" }, WriteOptions{}, `"#a" LIBSVM`},
		{"format", "f.csv", func(*dataset.Dataset) {}, WriteOptions{Format: "idx"}, `"idx"`},
		{"folder", "none/f.csv", func(*dataset.Dataset) {}, WriteOptions{},
			"f.csv changed"},
		{"directory", "", func(*dataset.Dataset) {}, WriteOptions{},
			"folder"},
	} {
		t.Run(c.what, func(t *testing.T) {
			dir := t.TempDir()
			d := good()
			c.spoil(d)
			err := Write(t.Context(), filepath.Join(dir, c.name), d, c.o)
			if !facts.Told(err, c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestWriteFailureKeepsOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f.csv")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	// The label column is looked at only when the file is already open.
	d := &dataset.Dataset{Examples: examples(2, 1, 2, 3, 4), Y: []int32{0, 1},
		Classes: []string{"a", "b"}}
	err := Write(t.Context(), path, d, WriteOptions{LabelColumn: "4"})
	want := path + ` "4"`
	if !facts.Told(err, want) {
		t.Errorf("got %v", err)
	}
	if text, _ := os.ReadFile(path); string(text) != "old" {
		t.Errorf("old file now holds %q", text)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// A writer that fails at any point makes encode fail: no error is swallowed.
func TestEncodeReportsEveryWriteError(t *testing.T) {
	d := randomDataset(rand.New(rand.NewPCG(5, 6)), 20, 5, []string{"0", "1"})
	for _, f := range formats() {
		if f.write == nil {
			continue
		}
		for _, path := range []string{"f", "f.gz", "f.zst"} {
			var whole strings.Builder
			d := d
			if f.name == "npy" {
				d = &dataset.Dataset{Examples: d.Examples}
			}
			if err := writeTo(t.Context(), &whole, path, f, d, WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			for room := 0; room < whole.Len(); room += 1 + whole.Len()/200 {
				if err := writeTo(t.Context(), &shortWriter{room}, path, f, d, WriteOptions{}); err == nil {
					t.Fatalf("%s %s: no error with room for %d of %d bytes", f.name, path, room, whole.Len())
				}
			}
		}
	}
}

type shortWriter struct{ room int }

func (w *shortWriter) Write(p []byte) (int, error) {
	if len(p) > w.room {
		return w.room, errors.New("full")
	}
	w.room -= len(p)
	return len(p), nil
}

// The hash depends on every part that Hash names and on nothing else.
func TestHashDistinguishes(t *testing.T) {
	base := func() *dataset.Dataset {
		return &dataset.Dataset{Examples: examples(2, 1, 2, 3, 4), Y: []int32{0, 1},
			Classes: []string{"a", "bc"}}
	}
	// Computed with Python's hashlib and struct from the layout that Hash documents.
	const want = "daf53e805352fe9e6e62cb921698db71f2896ffe70b5efdd7eee5fc877a7664e"
	if got := base().Hash(); got != want {
		t.Errorf("hash %s, wanted %s", got, want)
	}
	seen := map[string]string{want: "base"}
	for what, change := range map[string]func(*dataset.Dataset){
		"value":     func(d *dataset.Dataset) { d.X[3] = 5 },
		"zero":      func(d *dataset.Dataset) { d.X[3] = 0 },
		"-zero":     func(d *dataset.Dataset) { d.X[3] = float32(math.Copysign(0, -1)) },
		"label":     func(d *dataset.Dataset) { d.Y[1] = 0 },
		"class":     func(d *dataset.Dataset) { d.Classes = []string{"ab", "c"} },
		"shape":     func(d *dataset.Dataset) { d.N, d.D = 1, 4 },
		"no labels": func(d *dataset.Dataset) { d.Y, d.Classes = nil, nil },
		"no y":      func(d *dataset.Dataset) { d.Y = nil },
	} {
		d := base()
		change(d)
		h := d.Hash()
		if other, clash := seen[h]; clash {
			t.Errorf("%s has the hash of %s", what, other)
		}
		seen[h] = what
	}
	d := base()
	d.Features, d.Label, d.LabelColumn, d.Path, d.Subnormals = []string{"x", "y"}, "z", 3, "p", 7
	if d.Hash() != want {
		t.Error("the hash depends on names or places")
	}
	big := &dataset.Dataset{Examples: dataset.Examples{N: 70000, D: 1, X: make([]float32, 70000)}}
	if h := big.Hash(); len(h) != 64 || h == (&dataset.Dataset{Examples: dataset.Examples{N: 1,
		D: 70000, X: big.X}}).Hash() {
		t.Errorf("hash of 70000 values is %q", h)
	}
}

// TestWriteWideSparse writes two examples of 10^9 features in the formats for
// sparse examples: what they take is what they store, not a row of all features.
func TestWriteWideSparse(t *testing.T) {
	d := &dataset.Dataset{
		Examples: dataset.Examples{N: 2, D: 1e9, Starts: []int64{0, 1, 2}, Columns: []int32{5, 999999999},
			Values: []float32{1, 2}},
		Y: []int32{0, 1}, Classes: []string{"1", "2"},
	}
	for _, name := range []string{"a.svm", "a.npz"} {
		path := filepath.Join(t.TempDir(), name)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := Write(t.Context(), path, d, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 8<<20 {
			t.Errorf("%s: writing took %d bytes, wanted at most 8 MiB", name, took)
		}
	}
}
