package confusion

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// What numpy itself wrote; see testdata/README.md.
func TestReadNumpysFiles(t *testing.T) {
	permutation := []float64{0, 0, 1, 1, 0, 0, 0, 1, 0}
	for name, want := range map[string][]float64{
		"c-order-f8.npy":    sample,
		"fortran-f4.npy":    sample,
		"big-endian-f8.npy": sample,
		"int64.npy":         permutation,
		"fortran-u1.npy":    permutation,
	} {
		m, err := readMatrix(filepath.Join("testdata", name), ReadOptions{Classes: abc})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !slices.Equal(m.P, want) {
			t.Errorf("%s: got %v, wanted %v", name, m.P, want)
		}
	}
}

func TestReadNPYAxes(t *testing.T) {
	for _, c := range []struct {
		order, axes string
		want        []float64
	}{
		{"False", "", []float64{.75, .5, .25, .5}},
		{"True", TrueRows, []float64{.75, .5, .25, .5}},
	} {
		path := save(t, "c.npy", npyFile(npyDict("<f8", c.order, "(2, 2)"), float64Bytes(.75, .5, .25,
			.5)))
		m, err := readMatrix(path, ReadOptions{Classes: []string{"a", "b"}, Axes: c.axes})
		if err != nil {
			t.Errorf("%v: %v", c, err)
		} else if !slices.Equal(m.P, c.want) {
			t.Errorf("%v: got %v", c, m.P)
		}
	}
	// Negative zero, which numpy prints and keeps, is a plain 0 afterwards.
	path := save(t, "c.npy", npyFile(npyDict("<f8", "False", "(2, 2)"), float64Bytes(1,
		math.Copysign(0, -1), 0, 1)))
	m, err := readMatrix(path, ReadOptions{Classes: []string{"a", "b"}})
	if err != nil || math.Signbit(m.P[1]) {
		t.Errorf("negative zero: %v, %v", m, err)
	}
}

func TestReadNPYErrors(t *testing.T) {
	good := npyDict("<f8", "False", "(2, 2)")
	eye := float64Bytes(1, 0, 0, 1)
	whole := npyFile(good, eye)
	for _, c := range []struct {
		name string
		data []byte
		fact string
	}{
		{"magic alone", whole[:6], "cut"},
		{"data cut", whole[:len(whole)-1], "31 bytes 32 2×2 elements <f8"},
		{"data too long", append(slices.Clone(whole), 0), "33 bytes 32 2×2 elements <f8"},
		{"one axis", npyFile(npyDict("<f8", "False", "(4,)"), eye), "shape 4"},
		{"three axes", npyFile(npyDict("<f8", "False", "(2, 2, 1)"), eye), "shape 2 2 1"},
		{"wrong Q", npyFile(npyDict("<f8", "False", "(3, 3)"), make([]byte, 72)), "3×3 numbers"},
		{"complex", npyFile(npyDict("<c16", "False", "(2, 2)"), make([]byte, 64)), `"<c16"`},
		{"objects", npyFile(npyDict("|O", "False", "(2, 2)"), make([]byte, 48)), "Python"},
		{"counts", npyFile(npyDict("<f8", "False", "(2, 2)"), float64Bytes(1, 0, 7, 1)),
			"counts confusion-axes=true-rows"},
		{"NaN", npyFile(npyDict("<f8", "False", "(2, 2)"), float64Bytes(1, math.NaN(), 0, 1)),
			"NaN row 0 column 1"},
		{"signed", npyFile(npyDict("|i1", "False", "(2, 2)"), []byte{1, 0, 0, 0xff}),
			"-1 row 1 column 1"},
		{"column sums", npyFile(npyDict("<f8", "True", "(2, 2)"), float64Bytes(.75, .5, .25, .5)),
			"confusion-axes=true-rows"},
	} {
		path := save(t, "c.npy", c.data)
		m, err := readMatrix(path, ReadOptions{Classes: []string{"a", "b"}})
		if m != nil {
			t.Errorf("%s: got a matrix", c.name)
		}
		if err == nil || !strings.HasPrefix(err.Error(), path+": ") || !facts.Told(err, c.fact) {
			t.Errorf("%s:\ngot  %v\nwant %s", c.name, err, c.fact)
		}
	}
}
