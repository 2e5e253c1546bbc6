package model

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

func TestSaveAndLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	for range 2 { // new, then replaced
		if err := sample().Save(path); err != nil {
			t.Fatal(err)
		}
		got, err := Load(path)
		if err != nil || !reflect.DeepEqual(got, sample()) {
			t.Fatalf("loaded %+v, %v", got, err)
		}
	}
	wantFiles(t, filepath.Dir(path), "m.npz")
}

func TestBadModelLeavesOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	write(t, path, "old")
	m := sample()
	m.W = m.W[1:]
	if err := m.Save(path); !facts.Told(err, path+" W 14") {
		t.Errorf("error %v", err)
	}
	wantFiles(t, filepath.Dir(path), "m.npz")
	wantText(t, path, "old")
}

// A writer that fails at any byte fails Write.
func TestWriteReportsEveryFailure(t *testing.T) {
	whole := encode(t, sample())
	for n := range whole {
		var b bytes.Buffer
		err := sample().Write(&failing{&b, n})
		if !errors.Is(err, errFull) {
			t.Fatalf("writer that takes %d of %d bytes: error %v", n, len(whole), err)
		}
	}
}

var errFull = errors.New("full")

// failing takes n bytes and no more.
type failing struct {
	w io.Writer
	n int
}

func (f *failing) Write(p []byte) (int, error) {
	if len(p) <= f.n {
		f.n -= len(p)
		return f.w.Write(p)
	}
	n, _ := f.w.Write(p[:f.n])
	f.n = 0
	return n, errFull
}

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "empty.npz"), "")
	write(t, filepath.Join(dir, "text.npz"), "label,x\n1,2\n1,2\n1,2\n1,2\n")
	for _, c := range []struct{ path, want string }{
		{filepath.Join(dir, "none.npz"), "no such file"},
		{dir, "folder"},
		{os.DevNull, "device"},
		{filepath.Join(dir, "empty.npz"), "0 bytes"},
		{filepath.Join(dir, "text.npz"), "24 bytes another file"},
	} {
		m, err := Load(c.path)
		if err == nil || m != nil || !facts.Told(err, c.want) || !strings.HasPrefix(err.Error(),
			"model file "+c.path+": ") {
			t.Errorf("Load(%s): %v, want %q", c.path, err, c.want)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func wantText(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s: %q (%v), want %q", path, got, err, want)
	}
}

// wantFiles says which names are in dir, hidden ones included, in order.
func wantFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%s holds %q, want %q", dir, got, want)
	}
}
