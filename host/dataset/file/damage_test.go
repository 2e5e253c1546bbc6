package file

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// damageArchives returns archives of each kind, with their members that are read.
func damageArchives(t *testing.T) map[string][]string {
	t.Helper()
	dir := t.TempDir()
	archives := map[string][]string{
		golden("arrays.npz"): {"X", "y"},
		golden("other.npz"):  {"features"},
		golden("sparse.npz"): {"format", "shape", "indptr", "indices", "data"},
	}
	words := dataset.Dataset{Examples: examples(2, 1, 2, 3, 0, 0, 4), Y: []int32{0, 1, 0},
		Classes: []string{"a", "büro"}}
	numbers := words
	numbers.Classes, numbers.Examples = []string{"0", "1"}, words.Examples.Compressed()
	write := func(name string, raw []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, d := range map[string]*dataset.Dataset{"dense.npz": &words, "csr.npz": &numbers} {
		var b bytes.Buffer
		if err := writeNPZ(&lineWriter{w: &b}, d, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		read := []string{"X", "y"}
		if d.Sparse() {
			read = []string{"format", "shape", "indptr", "indices", "data", "y"}
		}
		archives[write(name, b.Bytes())] = read
		archives[write("packed-"+name, packMembers(t, b.Bytes()))] = read
	}
	return archives
}

// A byte that is not as it was written, in any array that is read: the error names
// the file and the array, also where the value itself would do.
func TestNPZDamage(t *testing.T) {
	for path, read := range damageArchives(t) {
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		archive, err := zip.NewReader(bytes.NewReader(whole), int64(len(whole)))
		if err != nil {
			t.Fatal(err)
		}
		o := Options{NoLabels: slices.Contains([]string{"data", "features"}, read[len(read)-1]),
			SkipBad: math.MaxInt}
		want, err := Read(t.Context(), path, o)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, f := range archive.File {
			name := strings.TrimSuffix(f.Name, ".npy")
			if !slices.Contains(read, name) {
				continue
			}
			found++
			from, err := f.DataOffset()
			if err != nil {
				t.Fatal(err)
			}
			step := int64(1)
			if testing.Short() {
				step = 11
			}
			for at := from; at < from+int64(f.CompressedSize64); at += step {
				for _, mask := range []byte{1, 0x80} {
					raw := bytes.Clone(whole)
					raw[at] ^= mask
					for _, o.SkipBad = range []int{0, math.MaxInt} {
						d, err := readLimited("f.npz", string(raw), o, wideLimits())
						switch {
						case err == nil && f.Method == zip.Deflate && d.SHA256 == want.SHA256 &&
							fmt.Sprint(d.Y) == fmt.Sprint(want.Y):
							// A bit that pads the packed data says nothing.
						case err == nil:
							t.Errorf("%s, byte %d of array %s: read without an error", path, at-from, name)
						case !strings.HasPrefix(err.Error(), "f.npz: array "+quote.Text(name)+": "):
							t.Errorf("%s, byte %d of array %s: %v", path, at-from, name, err)
						}
					}
				}
			}
		}
		if found != len(read) {
			t.Errorf("%s: %d of the arrays %v", path, found, read)
		}
	}
}

// Bytes behind the last element are as much an error in labels as in examples.
func TestNPZLongArray(t *testing.T) {
	raw, err := os.ReadFile(golden("arrays.npz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"X", "y"} {
		d, err := readText("f.npz", string(editMember(t, raw, name,
			func(b []byte) []byte { return append(b, 0) })), Options{})
		if want := "header"; !facts.Told(err, want) {
			t.Errorf("%s: got %v, %v", name, d, err)
		}
	}
}

// An archive of very many arrays takes time in proportion to them, whether it has the two that are
// read or not.
func TestNPZManyArrays(t *testing.T) {
	raw, err := os.ReadFile(golden("arrays.npz"))
	if err != nil {
		t.Fatal(err)
	}
	from, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	for _, whole := range []bool{true, false} {
		var out bytes.Buffer
		to := zip.NewWriter(&out)
		for k := range 50_000 {
			if _, err := to.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("a%d.npy", k)}); err != nil {
				t.Fatal(err)
			}
		}
		for _, f := range from.File {
			if !whole && f.Name == "X.npy" {
				continue
			}
			if err := to.Copy(f); err != nil {
				t.Fatal(err)
			}
		}
		if err := to.Close(); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		_, err := readText("f.npz", out.String(), Options{})
		if took := time.Since(start); took > 4*time.Second {
			t.Errorf("reading took %v, wanted a fraction of a second", took)
		}
		const want = "50001 examples"
		if whole && err != nil || !whole && !facts.Told(err, want) {
			t.Errorf("whole is %v: %v", whole, err)
		}
	}
}

// A text of UTF-32 that holds what is no character is no label, whatever stands for it elsewhere.
func TestNotUTF32(t *testing.T) {
	for _, c := range []uint32{0xd800, 0xdfff, 0x110000, 0x61000000, 0xffffffff} {
		for _, big := range []bool{false, true} {
			order, sign := binary.AppendByteOrder(binary.LittleEndian), "<"
			if big {
				order, sign = binary.BigEndian, ">"
			}
			labels := npyfile.Header(sign+"U2", 2)
			for _, v := range []uint32{'a', 'b', 'c', c} {
				labels = order.AppendUint32(labels, v)
			}
			path := filepath.Join(t.TempDir(), "y.npy")
			if err := os.WriteFile(path, labels, 0o600); err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf("%s: label 2: found %#x in a text of UTF-32", path, c)
			list, err := readLabels(t.Context(), path, Options{})
			known, _ := newLabels(nil, LabelRules{}) // which is empty
			if err == nil {
				err = list.choose(known, 1)
			}
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
	}
}

// The check sums at the end of packed files are compared, whatever is in them, and
// nothing may follow.
func TestPackedDamage(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	type file struct {
		raw    []byte
		labels bool
		o      Options
	}
	files := map[string]file{}
	for name, o := range map[string]Options{
		"x.csv": {}, "f4.npy": {NoLabels: true}, "f8fortran.npy": {NoLabels: true},
		"i2-idx2":    {NoLabels: true},
		"arrays.npz": {},
	} {
		raw, err := os.ReadFile(golden(name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = file{raw, false, o}
	}
	var binary, svm bytes.Buffer
	d, err := Read(t.Context(), golden("xy.csv"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]*bytes.Buffer{"npz": &binary, "libsvm": &svm} {
		f, err := formatNamed(name, true)
		if err != nil {
			t.Fatal(err)
		}
		if err := writeTo(t.Context(), b, "f", f, d, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		files[name] = file{b.Bytes(), false, Options{}}
	}
	files["parquet"] = file{parquetBytes(t, 5), false, Options{}}
	files["labels"] = file{[]byte("a\nb\nc\nd\na"), true, Options{}}
	for _, name := range []string{"y.npy", "names.npy", "labels-idx1-ubyte.gz"} {
		raw, err := os.ReadFile(golden(name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".gz") {
			z, err := gzip.NewReader(bytes.NewReader(raw))
			if err != nil {
				t.Fatal(err)
			}
			if raw, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		files[name] = file{raw, true, Options{}}
	}
	for name, f := range files {
		read := func(raw []byte) error {
			if !f.labels {
				_, err := readText("f", string(raw), f.o)
				return err
			}
			if err := os.WriteFile(data, raw, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := readLabels(t.Context(), data, f.o)
			return err
		}
		for kind, packed := range map[string][]byte{"gzip": []byte(pack(t, string(f.raw))),
			"zstd": zstdPack(t, f.raw)} {
			if err := read(packed); err != nil {
				t.Fatalf("%s, %s: %v", name, kind, err)
			}
			sums := map[string]int{"gzip": 8, "zstd": 4}[kind] // bytes of the check sum, and of gzip's size
			for k := range sums {
				raw := bytes.Clone(packed)
				raw[len(raw)-1-k] ^= 4
				if err := read(raw); !facts.Told(err, kind) {
					t.Errorf("%s, %s: byte %d of the check sum: %v", name, kind, k, err)
				}
			}
			if err := read(packed[:len(packed)-1]); err == nil {
				t.Errorf("%s, %s: cut by a byte: read", name, kind)
			}
			if err := read(append(bytes.Clone(packed), "garbage"...)); err == nil {
				t.Errorf("%s, %s: garbage behind it: read", name, kind)
			}
		}
	}
}

// packMembers returns an archive with its members packed, as
// numpy.savez_compressed writes them.
func packMembers(t testing.TB, raw []byte) []byte {
	return copyArchive(t, raw, zip.Deflate, func(_ string, b []byte) []byte { return b })
}

// editMember returns an archive in which the bytes of an array are changed.
func editMember(t testing.TB, raw []byte, name string, change func([]byte) []byte) []byte {
	return copyArchive(t, raw, zip.Store, func(other string, b []byte) []byte {
		if other == name+".npy" {
			return change(b)
		}
		return b
	})
}

func copyArchive(t testing.TB, raw []byte, method uint16, change func(name string,
	b []byte) []byte) []byte {
	t.Helper()
	from, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	to := zip.NewWriter(&out)
	for _, f := range from.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		w, err := to.CreateHeader(&zip.FileHeader{Name: f.Name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(change(f.Name, b)); err != nil {
			t.Fatal(err)
		}
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
