package confusion

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// npyFile returns a version 1 file with the dictionary and data given.
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
		m, err := Read(filepath.Join("testdata", name), ReadOptions{Classes: abc})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !slices.Equal(m.P, want) {
			t.Errorf("%s: got %v, wanted %v", name, m.P, want)
		}
	}
}

func TestReadNPYTypes(t *testing.T) {
	for descr, one := range map[string][]byte{
		"<i1": {1}, "|i1": {1}, "|u1": {1},
		"<i2": {1, 0}, ">i2": {0, 1}, "<u2": {1, 0}, ">u2": {0, 1},
		"<i4": {1, 0, 0, 0}, "<u4": {1, 0, 0, 0}, ">u4": {0, 0, 0, 1},
		"<i8": {1, 0, 0, 0, 0, 0, 0, 0}, "<u8": {1, 0, 0, 0, 0, 0, 0, 0}, ">i8": {0, 0, 0, 0, 0, 0, 0, 1},
		"<f4": {0, 0, 0x80, 0x3f}, ">f4": {0x3f, 0x80, 0, 0},
		"<f8": {0, 0, 0, 0, 0, 0, 0xf0, 0x3f},
	} {
		zero := make([]byte, len(one))
		data := slices.Concat(one, one, zero, zero) // both classes become class 0, in C order
		file := npyFile(npyDict(descr, "False", "(2, 2)"), data)
		m, err := Read(save(t, "c.npy", file), ReadOptions{Classes: []string{"a", "b"}})
		if err != nil {
			t.Errorf("%s: %v", descr, err)
		} else if !slices.Equal(m.P, []float64{1, 1, 0, 0}) {
			t.Errorf("%s: got %v, wanted [1 1 0 0]", descr, m.P)
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
		m, err := Read(path, ReadOptions{Classes: []string{"a", "b"}, Axes: c.axes})
		if err != nil {
			t.Errorf("%v: %v", c, err)
		} else if !slices.Equal(m.P, c.want) {
			t.Errorf("%v: got %v", c, m.P)
		}
	}
	// Negative zero, which numpy prints and keeps, is a plain 0 afterwards.
	path := save(t, "c.npy", npyFile(npyDict("<f8", "False", "(2, 2)"), float64Bytes(1,
		math.Copysign(0, -1), 0, 1)))
	m, err := Read(path, ReadOptions{Classes: []string{"a", "b"}})
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
		{"no length", whole[:9], "cut"},
		{"header cut", whole[:40], "cut"},
		{"data cut", whole[:len(whole)-1], "31 bytes 32 2×2 elements <f8"},
		{"data too long", append(slices.Clone(whole), 0), "33 bytes 32 2×2 elements <f8"},
		{"huge header", []byte(npyfile.Magic + "\x02\x00\xff\xff\xff\xff{}"), "4294967295 bytes"},
		{"version 3", []byte(npyfile.Magic + "\x03\x00\x00\x00\x00\x00"), "npy header"},
		{"no newline", append([]byte(npyfile.Magic+"\x01\x00\x02\x00"), "{}"...), `"{}"`},
		{"empty dictionary", npyFile("{}", eye),
			`"{}"`},
		{"order", npyFile(npyDict("<f8", "Perhaps", "(2, 2)"), eye), `"Perhaps"`},
		{"one axis", npyFile(npyDict("<f8", "False", "(4,)"), eye), "shape 4"},
		{"scalar", npyFile(npyDict("<f8", "False", "()"), eye[:8]), "shape"},
		{"three axes", npyFile(npyDict("<f8", "False", "(2, 2, 1)"), eye), "shape 2 2 1"},
		{"wrong Q", npyFile(npyDict("<f8", "False", "(3, 3)"), make([]byte, 72)), "3×3 numbers"},
		{"huge shape", npyFile(npyDict("<f8", "False", "(1073741824, 1073741824)"), nil),
			"shape 1073741824 1073741824"},
		{"negative shape", npyFile(npyDict("<f8", "False", "(-2, -2)"), eye), "shape -2 -2"},
		{"complex", npyFile(npyDict("<c16", "False", "(2, 2)"), make([]byte, 64)), `"<c16"`},
		{"half", npyFile(npyDict("<f2", "False", "(2, 2)"), make([]byte, 8)), `"<f2"`},
		{"text", npyFile(npyDict("<U3", "False", "(2, 2)"), make([]byte, 48)), `"<U3"`},
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
		m, err := Read(path, ReadOptions{Classes: []string{"a", "b"}})
		if m != nil {
			t.Errorf("%s: got a matrix", c.name)
		}
		if err == nil || !strings.HasPrefix(err.Error(), path+": ") || !facts.Told(err, c.fact) {
			t.Errorf("%s:\ngot  %v\nwant %s", c.name, err, c.fact)
		}
	}
}

// Any prefix of a file, and any file with one byte changed, is an error or a
// matrix, never a panic.
func TestReadNPYDamaged(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join("testdata", "fortran-f4.npy"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		if _, err := parseMatrix("F", whole[:i], ReadOptions{Classes: abc}); err == nil ||
			!strings.HasPrefix(err.Error(), "F:") {
			t.Errorf("first %d bytes: %v", i, err)
		}
		for _, v := range []byte{0, ' ', '9', '(', ',', '}', '\'', '\n', 0xff} {
			changed := slices.Clone(whole)
			changed[i] = v
			if _, err := parseMatrix("F", changed, ReadOptions{Classes: abc}); err != nil &&
				!strings.HasPrefix(err.Error(), "F:") {
				t.Errorf("byte %d = %#x: %v", i, v, err)
			}
		}
	}
}
