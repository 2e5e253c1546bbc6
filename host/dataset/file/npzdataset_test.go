package file

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

// described returns an .npz of a matrix, labels and their description.
func described(t *testing.T, x []float32, d int, y []int32, about any, method uint16) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	add := func(name string, content []byte) {
		z.Flush()
		extra := 0
		if head := b.Len() + 30 + len(name); head%64 != 0 {
			extra = (64-(head+4)%64)%64 + 4
		}
		padding := make([]byte, extra)
		if extra > 0 {
			copy(padding, []byte{0x35, 0xd9, byte(extra - 4), 0})
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method, Extra: padding})
		if err != nil {
			t.Fatal(err)
		}
		w.Write(content)
	}
	add("X.npy", append(npyfile.Header("<f4", len(x)/d, d), osfile.Bytes(x)...))
	if y != nil {
		add("y.npy", append(npyfile.Header("<i4", len(y)), osfile.Bytes(y)...))
	}
	text, err := json.Marshal(about)
	if err != nil {
		t.Fatal(err)
	}
	add(DescriptionName, text)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A described matrix is mapped as it lies in the file, or read where it is packed or small; its
// preparation, classes and hash are those of the description.
func TestDescribed(t *testing.T) {
	defer func(before int64) { mapFrom = before }(mapFrom)
	x, y := []float32{1, 0.5, 0, 1, 0.25, 0, 3, 4, 1, 0.5, 2, 1}, []int32{1, 0, 1}
	about := Description{Classes: []string{"no", "yes"}, Features: []string{"a", "b", "c"},
		Preparation: &dataset.Preparation{Steps: dataset.Steps{Bias: true}, D: 3},
		SHA256:      strings.Repeat("ab", 32)}
	path := filepath.Join(t.TempDir(), "data.npz")
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		for _, mapFrom = range []int64{0, 1 << 20} {
			raw := described(t, x, 4, y, about, method)
			if err := os.WriteFile(path, raw, 0o600); err != nil {
				t.Fatal(err)
			}
			d, err := Read(t.Context(), path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if mapped := d.ReadOnly; mapped != (method == zip.Store && mapFrom == 0) {
				t.Errorf("method %d, from %d: mapped %v", method, mapFrom, mapped)
			}
			if !slices.Equal(d.X, x) || !slices.Equal(d.Y, y) || !slices.Equal(d.Classes, about.Classes) ||
				d.Prepared == nil || d.Prepared.D != 3 || d.SHA256 != about.SHA256 {
				t.Errorf("found %+v", d)
			}
			if err := d.CheckAll(t.Context()); err != nil {
				t.Error(err)
			}
			d.Close()
			d, err = Read(t.Context(), path, Options{Classes: []string{"yes", "maybe", "no"}})
			if err != nil || !slices.Equal(d.Y, []int32{0, 2, 0}) {
				t.Errorf("other classes: %v, %v", d, err)
			}
			d.Close()
			if at := bytes.Index(raw, osfile.Bytes(x)); at >= 0 {
				raw[at] ^= 1
				os.WriteFile(path, raw, 0o600)
				if _, err := Read(t.Context(), path, Options{}); err == nil {
					t.Error("read a damaged file")
				}
			}
		}
	}
	for _, c := range []struct {
		x     []float32
		y     []int32
		about any
		want  string
	}{
		{x, []int32{1, 2, 0}, about, "found class 2, wanted -1 to 1"},
		{x, []int32{1, 0}, about, "found 2 labels"},
		{x, nil, about, "array"},
		{x, y, Description{}, "the file has no labels"},
		{x, y, Description{Classes: about.Classes, Preparation: &dataset.Preparation{D: 3}},
			"examples of 4 columns, wanted 3"},
		{x, y, 7, "member dataset.json"},
	} {
		os.WriteFile(path, described(t, c.x, 4, c.y, c.about, zip.Store), 0o600)
		if _, err := Read(t.Context(), path, Options{}); err == nil || !strings.Contains(err.Error(),
			c.want) {
			t.Errorf("%v: found %v, wanted %s", c.about, err, c.want)
		}
	}
}
