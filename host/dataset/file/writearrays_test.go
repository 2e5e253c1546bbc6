package file

import (
	"archive/zip"
	"bytes"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// written returns the bytes of d as a file of that name.
func written(t *testing.T, name string, d *dataset.Dataset) []byte {
	t.Helper()
	f, err := formatNamed(formatOfName(name), true)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := writeTo(t.Context(), &b, name, f, d, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// members returns the members of a zip archive by name.
func members(t *testing.T, raw []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all[f.Name] = string(text)
	}
	return all
}

// Every array has the bytes that NumPy and SciPy wrote.
func TestArraysEqualThoseOfNumPy(t *testing.T) {
	file := func(name string) []byte {
		raw, err := os.ReadFile(golden(name))
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	for text, labels := range map[string]string{"x.csv": "names.npy", "xy.csv": "y.npy"} {
		d, err := Read(t.Context(), golden(text), Options{Storage: "dense"})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"X.npy": string(file("f4.npy")), "y.npy": string(file(labels))}
		if got := members(t, written(t, "f.npz", d)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
		want = members(t, file("sparse.npz"))
		want["y.npy"] = string(file(labels))
		if got := members(t, written(t, "f.npz", inStorage(d, true))); !reflect.DeepEqual(got, want) {
			t.Errorf("%s, sparse: got %q, want %q", text, got, want)
		}
		d.Y, d.Classes = nil, nil
		for _, d := range []*dataset.Dataset{d, inStorage(d, true)} {
			if got := written(t, "f.npy", d); !bytes.Equal(got, file("f4.npy")) {
				t.Errorf("%s: got %q, want f4.npy", text, got)
			}
		}
	}
}

// What is written is read back with the same bits, labels and classes, from
// either storage into either.
func TestArraysReadBackEqual(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	dir := t.TempDir()
	long := strings.Repeat("é𝔽", 1<<15)
	for trial, classes := range [][]string{
		{"-1", "0", "10"}, {"-9223372036854775808", "0", "9223372036854775807"}, {"0",
			"9223372036854775808"},
		{"0", "00"}, {"-0", "0"}, {"+1", "1"}, {"1", "1.5"}, {"a, #:b", "a\u00a0", "𝔽é"}, {"a", long},
	} {
		n := []int{300, 40, 3}[trial%3]
		d := randomDataset(rng, n, 1+7*trial, classes)
		bare := &dataset.Dataset{Examples: d.Examples}
		for _, sparse := range []bool{false, true} {
			for name, d := range map[string]*dataset.Dataset{"f.npz": d, "f.npz.gz": d, "b.npz": bare,
				"b.npy": bare, "b.npy.zst": bare} {
				path := filepath.Join(dir, name)
				if err := Write(t.Context(), path, inStorage(d, sparse), WriteOptions{}); err != nil {
					t.Fatal(err)
				}
				for _, storage := range []string{"auto", "dense", "sparse"} {
					got, err := Read(t.Context(), path, Options{NoLabels: d.Y == nil, Storage: storage})
					if err != nil {
						t.Fatalf("%s of classes %.80q: %v", name, classes, err)
					}
					sameExamples(t, name, got.Examples, d.Examples)
					if got.SHA256 != d.Hash() || !reflect.DeepEqual(got.Y, d.Y) || !reflect.DeepEqual(got.Classes,
						d.Classes) {
						t.Errorf("%s: hash, labels or classes %.80q differ, wanted %.80q", name, got.Classes,
							d.Classes)
					}
				}
			}
		}
	}
}

func TestArraysBad(t *testing.T) {
	for _, c := range []struct {
		name    string
		classes []string
		want    string
	}{
		{"f.npy", []string{"a", "b"}, "no place labels"},
		{"f.npz", []string{"a", strings.Repeat("é", 1<<16+1)}, "65537 characters 65536"},
	} {
		dir := t.TempDir()
		d := &dataset.Dataset{Examples: examples(2, 1, 2, 3, float32(math.Copysign(0, -1))),
			Y: []int32{0, 1}, Classes: c.classes}
		path := filepath.Join(dir, c.name)
		err := Write(t.Context(), path, d, WriteOptions{})
		if !facts.Told(err, path+" changed") || !facts.Told(err, c.want) {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// Row starts beyond 31 bits take 64; nothing so large is written here.
func TestManyStoredValues(t *testing.T) {
	for stored, want := range map[int64]string{math.MaxInt32: "<i4", math.MaxInt32 + 1: "<i8"} {
		if got := startType([]int64{0, stored}); got != want {
			t.Errorf("%d values: row starts of type %s, wanted %s", stored, got, want)
		}
	}
}
