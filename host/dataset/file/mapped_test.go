package file

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// stored writes d in the binary format and opens it; the test closes it.
func stored(t testing.TB, d *dataset.Dataset, o Options) *dataset.Dataset {
	t.Helper()
	path := filepath.Join(t.TempDir(), "d.umab")
	if err := Write(t.Context(), path, d, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	got, err := Read(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := got.Close(); err != nil {
			t.Error(err)
		}
	})
	return got
}

// binaryBytes is d as a binary file.
func binaryBytes(t testing.TB, d *dataset.Dataset) []byte {
	t.Helper()
	f, err := formatNamed("binary", true)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := writeTo(t.Context(), &b, "d.umab", f, d, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sameContent compares all that a binary file keeps, the values bit by bit.
func sameContent(t *testing.T, what string, got, want *dataset.Dataset) {
	t.Helper()
	sameBits(t, what+": X", append([]float32{}, got.X...), append([]float32{}, want.X...))
	sameBits(t, what+": values", append([]float32{}, got.Values...), append([]float32{},
		want.Values...))
	g, w := *got, *want
	for _, d := range []*dataset.Dataset{&g, &w} {
		d.X, d.Values, d.Home, d.Path, d.Format = nil, nil, nil, "", ""
		d.SkippedAt, d.SkippedErrs = nil, nil
	}
	if !reflect.DeepEqual(g, w) {
		t.Errorf("%s: got\n%+v\nwant\n%+v", what, g, w)
	}
}

func TestBinaryRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	for trial, shape := range []struct{ n, d int }{{2, 1}, {3, 4}, {100, 17}, {40, 1300}} {
		d := randomDataset(rng, shape.n, shape.d, []string{"cat", "ü <&> \"", "10"}[:2+trial%2])
		d.SHA256, d.LabelColumn, d.Label = d.Hash(), 2, "the, class"
		d.Subnormals, d.Notes = trial, []string{"one", "two"}
		for j := range d.D {
			d.Features = append(d.Features, fmt.Sprintf(" a \"%d\",;\tü", j))
		}
		for _, storage := range []string{"dense", "sparse"} {
			for _, steps := range []string{"", "none", "maxabs,bias", "l2"} {
				what := fmt.Sprintf("%v, %s, %q", shape, storage, steps)
				want := *d
				if storage == "sparse" {
					want.Examples = d.Compressed()
				}
				if steps != "" {
					s, err := dataset.ParseSteps(steps)
					if err != nil {
						t.Fatal(err)
					}
					for k := range want.X { // what fits in float32 when it is squared
						want.X[k] = min(max(want.X[k], -1e9), 1e9)
					}
					for k := range want.Values {
						want.Values[k] = min(max(want.Values[k], -1e9), 1e9)
					}
					if err := features.Prepare(&want, s); err != nil {
						t.Fatal(err)
					}
				} else {
					want.SHA256 = want.Hash()
				}
				got := stored(t, &want, Options{})
				sameContent(t, what, got, &want)
				if fileOf(got) == nil {
					t.Errorf("%s: not in the file", what)
				}
				if err := Verify(t.Context(), got); err != nil {
					t.Errorf("%s: %v", what, err)
				}
				again := stored(t, got, Options{}) // a copy of a copy
				sameContent(t, what, again, &want)
				if a, b := binaryBytes(t, got), binaryBytes(t, &want); !bytes.Equal(a, b) {
					t.Errorf("%s: the copy has other bytes", what)
				}
			}
		}
	}
}

// Packed, or from a reader, a binary file is read into memory.
func TestBinaryPacked(t *testing.T) {
	d := randomDataset(rand.New(rand.NewPCG(53, 54)), 50, 7, []string{"a", "b"})
	d.SHA256 = d.Hash()
	for _, name := range []string{"d.umab.gz", "d.umab.zst"} {
		path := filepath.Join(t.TempDir(), name)
		if err := Write(t.Context(), path, d, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		got, err := Read(t.Context(), path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		sameContent(t, name, got, d)
		if err := Verify(t.Context(), got); err != nil {
			t.Error(err)
		}
		if err := got.Close(); err != nil {
			t.Error(err)
		}
	}
	got, err := ReadFrom(t.Context(), bytes.NewReader(binaryBytes(t, d)), "standard input", Options{})
	if err != nil {
		t.Fatal(err)
	}
	sameContent(t, "reader", got, d)
}

func TestBinaryOptions(t *testing.T) {
	d := randomDataset(rand.New(rand.NewPCG(55, 56)), 60, 9, []string{"a", "b", "c"})
	d.SHA256 = d.Hash()
	got := stored(t, d, Options{Storage: "sparse", Classes: []string{"a", "b", "c"}, Features: 9})
	want := *d
	want.Examples = d.Compressed()
	sameContent(t, "sparse", got, &want)
	got = stored(t, &want, Options{Storage: "dense"})
	sameContent(t, "dense", got, d)

	got = stored(t, d, Options{NoLabels: true})
	want = *d
	want.Y, want.Classes, want.SHA256 = nil, nil, ""
	sameContent(t, "no labels", got, &want)
	if err := Verify(t.Context(), got); err != nil { // of the file, which has them
		t.Error(err)
	}
	bare := *d
	bare.Y, bare.Classes = nil, nil
	bare.SHA256 = bare.Hash()
	sameContent(t, "bare", stored(t, &bare, Options{NoLabels: true}), &bare)

	got = stored(t, d, Options{Classes: []string{"c", "z", "b", "a"}})
	for i, k := range got.Y {
		if got.Classes[k] != d.Classes[d.Y[i]] {
			t.Fatalf("label %d is %s, want %s", i, got.Classes[k], d.Classes[d.Y[i]])
		}
	}
	if got.SHA256 != "" {
		t.Error("other classes, the same hash")
	}

	path := filepath.Join(t.TempDir(), "d.umab")
	text := filepath.Join(t.TempDir(), "labels")
	if err := os.WriteFile(text, []byte(strings.Repeat("a\nb\n", 30)), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		d    *dataset.Dataset
		o    Options
		want string
	}{
		{d, Options{Classes: []string{"a", "c"}}, `d.umab example 2 1 "b" 2`},
		{d, Options{Features: 8}, "d.umab 9 features 8"},
		{d, Options{Table: Table{Ignore: []string{"1"}}}, "only tables"},
		{d, Options{Labels: text}, "binary own"},
		{&bare, Options{}, "d.umab labels"},
		{&dataset.Dataset{Examples: d.Examples, Y: make([]int32, 60), Classes: []string{"a"}}, Options{}, `"a"`},
	} {
		if err := Write(t.Context(), path, c.d, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(t.Context(), path, c.o); !facts.Told(err, c.want) {
			t.Errorf("%+v: %v, want %s", c.o, err, c.want)
		}
	}
}

func TestClose(t *testing.T) {
	d := stored(t, randomDataset(rand.New(rand.NewPCG(57, 58)), 6, 3, []string{"a", "b"}), Options{})
	for range 2 {
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if d.X != nil || d.Y != nil || d.Examples.Check() == nil {
			t.Error("examples after Close")
		}
	}
	own := &dataset.Dataset{Examples: examples(1, 1, 2)}
	if err := own.Close(); err != nil || own.X == nil {
		t.Errorf("Close took the memory of its owner (%v)", err)
	}
}
