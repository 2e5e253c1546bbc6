package file

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

func golden(name string) string { return filepath.Join("testdata", name) }

// Every golden file says the same as its CSV.
func TestReadGolden(t *testing.T) {
	text, whole := "x.csv", "i.csv"
	for _, c := range []struct {
		name string
		o    Options
		like string
	}{
		{"f4.npy", Options{Labels: "names.npy"}, text},
		{"f8.npy", Options{Labels: "names.npy"}, text},
		{"f8big.npy", Options{Labels: "names.npy"}, text},
		{"f4fortran.npy", Options{Labels: "names.npy"}, text},
		{"f8fortran.npy", Options{Labels: "y.npy"}, "xy.csv"},
		{"cube.npy", Options{Labels: "y_float.npy"}, "xy.csv"},
		{"cube.npy", Options{Labels: "y_two.npy", Table: Table{LabelColumn: "first"}}, "xy.csv"},
		{"i_i1.npy", Options{Labels: "y.npy"}, whole},
		{"i_i2.npy", Options{Labels: "y.npy"}, whole},
		{"i_i4.npy", Options{Labels: "y.npy"}, whole},
		{"i_i8.npy", Options{Labels: "y.npy"}, whole},
		{"arrays.npz", Options{}, "xy.csv"},
		{"arrays.npz", Options{Labels: "names.npy"}, text},
		{"other.npz", Options{Labels: "names.npy"}, text},
		{"sparse.npz", Options{Labels: "names.npy"}, text},
		{"sparse_plain.npz", Options{Labels: "y.npy"}, "xy.csv"},
		{"i1-idx2", Options{Labels: "y.npy"}, whole},
		{"i2-idx2", Options{Labels: "y.npy"}, whole},
		{"i4-idx2", Options{Labels: "y.npy"}, whole},
		{"f4-idx2", Options{Labels: "names.npy"}, text},
		{"f8-idx2", Options{Labels: "names.npy"}, text},
	} {
		for _, storage := range []string{"auto", "dense", "sparse"} {
			t.Run(c.name+" "+storage, func(t *testing.T) {
				o := c.o
				o.Storage = storage
				if o.Labels != "" {
					o.Labels = golden(o.Labels)
				}
				want, err := Read(t.Context(), golden(c.like), Options{Storage: storage})
				if err != nil {
					t.Fatal(err)
				}
				got, err := Read(t.Context(), golden(c.name), o)
				if err != nil {
					t.Fatal(err)
				}
				sameExamples(t, c.name, got.Examples, want.Examples)
				if got.SHA256 != want.SHA256 || !reflect.DeepEqual(got.Y, want.Y) ||
					!reflect.DeepEqual(got.Classes, want.Classes) {
					t.Errorf("labels %v of %q, wanted %v of %q", got.Y, got.Classes, want.Y, want.Classes)
				}
				if err := got.CheckAll(t.Context()); err != nil {
					t.Error(err)
				}
				if storage != "auto" && got.Sparse() != (storage == "sparse") {
					t.Error("the wrong storage")
				}
			})
		}
	}
}

func TestReadIDXPair(t *testing.T) {
	d, err := Read(t.Context(), golden("images-idx3-ubyte"),
		Options{Labels: golden("labels-idx1-ubyte.gz")})
	if err != nil {
		t.Fatal(err)
	}
	same(t, d, dataset.Dataset{
		Examples: examples(4, 1, 0, 3, 7, 0, 0, 0, 0, 1, 0, 2, 0, 127, 128, 1, 0, 0, 0, 0, 2),
		Y:        []int32{2, 1, 2, 3, 0}, Classes: []string{"0", "1", "3", "10"},
	})
}

// Packed, from a pipe, and by any name, a file says the same; formats that are
// read at any place too.
func TestReadPackedAndPiped(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"x.csv", "arrays.npz", "f8fortran.npy", "i4-idx2", "sparse.npz",
		"parquet"} {
		var raw []byte
		if name == "parquet" {
			raw = parquetBytes(t, 5)
		} else {
			var err error
			if raw, err = os.ReadFile(golden(name)); err != nil {
				t.Fatal(err)
			}
		}
		o := Options{NoLabels: true}
		switch name {
		case "x.csv":
			o.Ignore = []string{"last"}
		case "parquet":
			o.LabelColumn = "last"
		}
		plain := filepath.Join(dir, "plain")
		if err := os.WriteFile(plain, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		want, err := Read(t.Context(), plain, o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, packed := range [][]byte{raw, []byte(pack(t, string(raw))), zstdPack(t, raw)} {
			for what, read := range map[string]func() (*dataset.Dataset, error){
				"ReadFrom": func() (*dataset.Dataset, error) {
					return ReadFrom(t.Context(), bytes.NewReader(packed),
						"pipe", o)
				},
				"stdin": func() (*dataset.Dataset, error) {
					o := o
					o.Stdin = bytes.NewReader(packed)
					return Read(t.Context(), "-", o)
				},
				"file": func() (*dataset.Dataset, error) {
					path := filepath.Join(dir, "packed.svm") // a name that says something else
					if err := os.WriteFile(path, packed, 0o600); err != nil {
						t.Fatal(err)
					}
					o := o
					if name == "x.csv" {
						o.Format = "csv"
					}
					return Read(t.Context(), path, o)
				},
			} {
				got, err := read()
				if err != nil {
					t.Errorf("%s, %s: %v", name, what, err)
				} else if got.SHA256 != want.SHA256 {
					t.Errorf("%s, %s: another hash", name, what)
				}
			}
		}
	}
}

func TestReadFormatsBad(t *testing.T) {
	read := func(name string) string {
		raw, err := os.ReadFile(golden(name))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	npy, idx := read("f8.npy"), read("f4-idx2")
	bare := Options{NoLabels: true}
	labels := func(name string) Options { return Options{Labels: golden(name)} }
	head := func(header string) string {
		return "\x93NUMPY\x01\x00" + string(rune(len(header))) +
			"\x00" + header
	}
	const nan = "\x00\x00\xc0\x7f"
	nanNPY := read("f4.npy")
	nanNPY = nanNPY[:len(nanNPY)-24] + nan + nanNPY[len(nanNPY)-20:]
	big := strings.Replace(npy, "\x00\x00\x00\x00\x00\x00\xe0\x3f", "\x00\x00\x00\x00\x00\x00\xf0\x7e",
		1)
	for _, c := range []struct {
		what, name, text string
		o                Options
		want             string
	}{
		{"npy without labels", "f.npy", npy, Options{}, "f.npy labels"},
		{"npy cut short", "f.npy", npy[:len(npy)-9], bare, "f.npy 0 examples 5 cut"},
		{"npy in gzip cut short", "f.npy", pack(t, npy)[:120], bare, "f.npy cut"},
		{"npy header cut", "f.npy", npy[:30], bare, "f.npy header"},
		{"npy too long", "f.npy", npy + "x", bare, "f.npy header"},
		{"npy by name only", "f.npy", "1,2,3\n4,5,6\n", bare, `f.npy NumPy \x93NUMPY`},
		{"npy NaN", "f.npy", nanNPY, bare, "f.npy example 4 column 3 NaN finite"},
		{"npy overflow", "f.npy", big, bare, "f.npy example 1 column 1 float32"},
		{"npy half", "f.npy", read("half.npy"), bare, "f.npy f2 float32 float64"},
		{"npy objects", "f.npy", read("objects.npy"), bare, "f.npy Python"},
		{"npy texts", "f.npy", read("names.npy"), bare, "f.npy 1 dimensions ×"},
		{"npy structured", "f.npy", head(
			"{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (3,), }"), bare, "fortran_order"},
		{"npy version", "f.npy", "\x93NUMPY\x09\x00\x00\x00", bare, "f.npy version 9 1 3"},
		{"npy shape", "f.npy", head(
			"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999), }"), bare,
			"address"},
		{"npy rows", "f.npy", head(
			"{'descr': '<f4', 'fortran_order': False, 'shape': (3000000000, 1), }"), bare,
			"f.npy 3000000000×1 2147483647 examples"},
		{"npy columns", "f.npy", head(
			"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3000000000), }"), bare,
			"2147483647 features"},
		{"npy empty", "f.npy", head("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3), }"), bare,
			"f.npy example"},
		{"npy width", "f.npy", npy, Options{NoLabels: true, Features: 3}, "f.npy 4 features 3"},
		{"npy columns left out", "f.npy", npy, Options{NoLabels: true,
			Table: Table{Ignore: []string{"1"}}}, "f.npy leave"},

		{"idx without labels", "f", idx, Options{}, "f IDX"},
		{"idx cut short", "f", idx[:len(idx)-1], bare, "f 0 examples 5"},
		{"idx of labels", "f", "\x00\x00\x08\x01\x00\x00\x00\x02ab", bare, "f 1 dimensions ×"},
		{"idx forced", "f", "1,2,3\n", Options{NoLabels: true, Format: "idx"}, "f 31 2c 32 2c IDX"},
		{"idx header cut", "f", "\x00\x00\x08\x03\x00\x00\x00\x02", bare, "f IDX"},

		{"npz other names", "f.npz", read("other.npz"), Options{}, `f.npz "features" "target" "y" "Y"`},
		{"npz cut short", "f.npz", read("arrays.npz")[:400], Options{}, "f.npz whole"},
		{"npz damaged", "f.npz", strings.Replace(read("arrays.npz"), "\xe0\x3f", "\xe1\x3f", 1), Options{}, `f.npz "X" checksum`},
		{"sparse without labels", "f.npz", read("sparse.npz"), Options{}, "f.npz SciPy"},
		{"sparse csc", "f.npz", read("sparse_csc.npz"), bare, `f.npz "csc"`},
		{"sparse twice", "f.npz", read("sparse_twice.npz"), bare,
			"f.npz example 1 column 4 twice SciPy sum_duplicates"},
		{"sparse too wide", "f.npz", read("sparse.npz"), Options{NoLabels: true, Features: 3},
			"f.npz 4 features 3"},

		{"labels missing", "f.npy", npy, labels("none"), "none data"},
		{"too few labels", "f", "1\n2\n3\n4\n5\n6\n", labels("y.npy"), "y.npy 5 labels"},
		{"too many labels", "f", "1\n2\n3\n", labels("y.npy"), "y.npy 5 labels 3 f"},
		{"labels, no column named", "f", "1\n2\n3\n", labels("xy.csv"),
			`xy.csv:1 5 columns "0.5" "0.0" "-3.0" "7.0" "3"`},
		{"label columns", "f.npy", npy, labels("y_two.npy"), `y_two.npy 2 columns ""`},
		{"real labels", "f.npy", npy, labels("f4.npy"), "f4.npy 4 columns"},
		{"float labels", "f.npy", npy, Options{Labels: golden("f8.npy"), Table: Table{LabelColumn: "1"}},
			"f8.npy label 1 0.5"},
		{"labels and none", "f", "1\n", Options{NoLabels: true, Labels: "y"}, "y"},
		{"unknown label", "f.npy", npy, Options{Labels: golden("y.npy"), Classes: []string{"3", "-1"}}, `y.npy label 4 "10" 2`},
	} {
		t.Run(c.what, func(t *testing.T) {
			d, err := readText(c.name, c.text, c.o)
			if err == nil {
				t.Fatalf("read %d×%d, wanted an error with %q", d.N, d.D, c.want)
			}
			if !facts.Told(err, c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestReadSciPyUnsorted(t *testing.T) {
	d, err := Read(t.Context(), golden("sparse_unsorted.npz"), Options{NoLabels: true, Features: 6})
	if err != nil {
		t.Fatal(err)
	}
	same(t, d, dataset.Dataset{Examples: examples(6, 0.5, 0, -3, 7, 0, 0, 0, 0, 0, 0, 0, 0),
		Found: dataset.Found{
			Notes: []string{"testdata/sparse_unsorted.npz: found 4 features of 6; the others " +
				"are zero"}}})
}
