package file

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// writeNPYBytes writes rows of d bytes, and labels.
func writeNPYBytes(t *testing.T, path string, d int, values []byte) {
	t.Helper()
	head := fmt.Sprintf("{'descr': '|u1', 'fortran_order': False, 'shape': (%d, %d), }",
		len(values)/d, d)
	head += strings.Repeat(" ", 63-(10+len(head))%64) + "\n"
	b := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(head)))
	if err := os.WriteFile(path, append(append(b, head...), values...), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRecall: a file with the bytes of another gives its values without a copy, with the labels,
// names and hash that it would have by itself. One byte more or less is another file.
func TestRecall(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	r := NewRecall([]string{dir})
	values := []byte("abcdefghijklmnopqrstuvwx")
	count := 0
	read := func(folder string, values []byte, o Options) *float32 {
		t.Helper()
		count++
		path := filepath.Join(folder, fmt.Sprintf("x%d.npy", count))
		writeNPYBytes(t, path, 4, values)
		d, err := Read(r.With(context.Background()), path, o)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Read(context.Background(), path, o)
		if err != nil {
			t.Fatal(err)
		}
		sameBits(t, path, d.X, want.X)
		if d.Path != path || d.SHA256 != want.SHA256 || !slices.Equal(d.Y, want.Y) ||
			!slices.Equal(d.Classes, want.Classes) || !slices.Equal(d.SkippedAt, want.SkippedAt) {
			t.Fatalf("%s: found %+v, wanted %+v", path, d.Found, want.Found)
		}
		var x *float32
		if !d.Sparse() {
			x = &d.X[0]
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		return x
	}
	labels := func(text string) Options {
		count++
		path := filepath.Join(elsewhere, fmt.Sprint(count, ".txt"))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return Options{Labels: path}
	}
	first := read(dir, values, labels("a\nb\na\nb\na\nb\n"))
	for what, o := range map[string]Options{"same labels": labels("a\nb\na\nb\na\nb\n"),
		"others": labels("b\nb\na\nc\na\nb\n"), "names": labels("u\nv\nu\nv\nu\nv\n"),
		"none": {NoLabels: true}} {
		if read(dir, values, o) != first {
			t.Errorf("%s: read again", what)
		}
	}
	unknown := labels("a\n?\na\nb\na\nb\n")
	unknown.SkipBad, unknown.Classes = true, []string{"a", "b"}
	if read(dir, values, unknown) == first {
		t.Error("a row left out: the same values")
	}
	if read(dir, values, Options{NoLabels: true, Storage: "sparse"}); read(elsewhere, values,
		Options{NoLabels: true}) == first {
		t.Error("another folder: not read")
	}
	other := slices.Clone(values)
	other[7]++
	if read(dir, other, Options{NoLabels: true}) == first {
		t.Error("another byte: not read")
	}
	if read(dir, values, Options{NoLabels: true}) != first { // nobody has written to it
		t.Error("at the end: read again")
	}
	if !r.Forget() || r.Forget() || read(dir, values, Options{NoLabels: true}) == first {
		t.Error("forgotten: not read")
	}
}

// TestRecallIsBounded: what was used long ago makes room; what is too large is not kept.
func TestRecallIsBounded(t *testing.T) {
	defer func(most, all int64) { recallMost, recallAll = most, all }(recallMost, recallAll)
	recallMost, recallAll = 100, 50
	dir := t.TempDir()
	r := NewRecall([]string{dir})
	known := func(c byte, rows int) bool {
		path := filepath.Join(dir, "x.npy")
		writeNPYBytes(t, path, 4, slices.Repeat([]byte{c, c + 1, c + 2, c + 3}, rows))
		s, done, err := openSource(context.Background(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		key, _ := r.keyOf(s)
		before := r.find(key)
		if _, err := Read(r.With(context.Background()), path, Options{NoLabels: true}); err != nil {
			t.Fatal(err)
		}
		return before != nil
	}
	for at, step := range []struct {
		c    byte
		rows int
		want bool
	}{{1, 5, false}, {5, 5, false}, {1, 5, true}, {9, 5, false}, {1, 5, true}, {5, 5, false},
		{1, 13, false}, {1, 13, true}, {5, 5, false}, {1, 26, false}, {1, 26, false}, {5, 5, true}} {
		if got := known(step.c, step.rows); got != step.want {
			t.Errorf("step %d: kept %v, wanted %v", at, got, step.want)
		}
	}
}
