package model

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

func TestSaveAndLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	for range 2 { // new, then replaced
		if err := CheckWritable(path); err != nil {
			t.Fatal(err)
		}
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

func TestCheckWritableTouchesNothing(t *testing.T) {
	dir := t.TempDir()
	if err := CheckWritable(filepath.Join(dir, "m.npz")); err != nil {
		t.Error(err)
	}
	wantFiles(t, dir)
	old := filepath.Join(dir, "old.npz")
	write(t, old, "old")
	if err := CheckWritable(old); err != nil {
		t.Error(err)
	}
	wantFiles(t, dir, "old.npz")
	wantText(t, old, "old")
}

// Save and CheckWritable refuse the same paths, with the same words, and leave
// nothing behind.
func TestUnwritablePaths(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "text")
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, want string }{
		{"", "found no file name, wanted one such as model.npz"},
		{filepath.Join(dir, "folder"), "is a folder: name a file in it, such as " + filepath.Join(dir, "folder", "model.npz")},
		{filepath.Join(dir, "new") + string(filepath.Separator), "found no file name"},
		{filepath.Join(dir, "missing", "m.npz"), "creating a file in folder " + filepath.Join(dir, "missing")},
		{filepath.Join(dir, "missing", "m.npz"), "make the folder first"},
		{filepath.Join(dir, "file", "m.npz"), "cannot be written (nothing was changed)"},
		{filepath.Join(dir, strings.Repeat("x", 300)), "choose another file name"},
		{os.DevNull, "found a device, wanted a regular file"},
	} {
		for what, err := range map[string]error{"Save": sample().Save(c.path), "CheckWritable": CheckWritable(c.path)} {
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.path) {
				t.Errorf("%s(%.80q): error %v, want the path and %q", what, c.path, err, c.want)
			}
		}
	}
	wantFiles(t, dir, "file", "folder")
	wantText(t, filepath.Join(dir, "file"), "text")
}

func TestBadModelLeavesOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	write(t, path, "old")
	m := sample()
	m.W = m.W[1:]
	if err := m.Save(path); err == nil || !strings.Contains(err.Error(), path+" not written: W: found 14 weights") {
		t.Errorf("error %v", err)
	}
	wantFiles(t, filepath.Dir(path), "m.npz")
	wantText(t, path, "old")
}

// Whatever byte the writing fails at, the old file stays and the temporary one
// goes.
func TestFailedWriteLeavesOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	write(t, path, "old")
	whole := encode(t, sample())
	for n := 0; n < len(whole); n += 97 {
		err := replaceFile(path, func(w io.Writer) error {
			if _, err := w.Write(whole[:n]); err != nil {
				return err
			}
			return &fs.PathError{Op: "write", Path: "temp", Err: syscall.ENOSPC}
		})
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "free some space") {
			t.Fatalf("after %d bytes: error %v, want one with the path and what to do", n, err)
		}
		wantFiles(t, filepath.Dir(path), "m.npz")
		wantText(t, path, "old")
	}
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

func TestSaveKeepsPermissionsAndLinks(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "m.npz"), filepath.Join(dir, "link.npz")
	write(t, file, "old")
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("m.npz", link); err != nil {
		t.Fatal(err)
	}
	if err := sample().Save(link); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(file)
	if err != nil || info.Mode() != 0o640 {
		t.Errorf("mode %v (%v), want 0640", info.Mode(), err)
	}
	if to, err := os.Readlink(link); err != nil || to != "m.npz" {
		t.Errorf("the link leads to %q (%v)", to, err)
	}
	if _, err := Load(file); err != nil {
		t.Error(err)
	}
	wantFiles(t, dir, "link.npz", "m.npz")
}

func TestLeftoverTemporaryFileIsNoObstacle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.npz")
	left := filepath.Join(filepath.Dir(path), fmt.Sprintf(".uma-gpu-%d-0.tmp", os.Getpid()))
	write(t, left, "half")
	if err := sample().Save(path); err != nil {
		t.Fatal(err)
	}
	wantText(t, left, "half") // another process of this number may own it
}

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "empty.npz"), "")
	write(t, filepath.Join(dir, "text.npz"), "label,x\n1,2\n1,2\n1,2\n1,2\n")
	for _, c := range []struct{ path, want string }{
		{filepath.Join(dir, "none.npz"), "no such file or directory: check the name"},
		{dir, "found a folder, wanted a regular file"},
		{os.DevNull, "found a device, wanted a regular file"},
		{filepath.Join(dir, "empty.npz"), "found 0 bytes, wanted an .npz file"},
		{filepath.Join(dir, "text.npz"), `found "labe" at the start, wanted an .npz file`},
	} {
		m, err := Load(c.path)
		if err == nil || m != nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "model file "+c.path+": ") {
			t.Errorf("Load(%s): %v, want %q", c.path, err, c.want)
		}
	}
}

func TestAdvice(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{syscall.ENOSPC, "free some space"},
		{syscall.EDQUOT, "free some space"},
		{syscall.EFBIG, "limit on file sizes"},
		{syscall.EACCES, "choose a folder that you may write to"},
		{syscall.EPERM, "choose a folder that you may write to"},
		{syscall.EROFS, "choose a folder that you may write to"},
		{syscall.ENOENT, "make the folder first"},
		{syscall.EIO, "choose another file name or folder"},
	} {
		err := notWritten("m.npz", fmt.Errorf("wrapped: %w", cause(&fs.PathError{Op: "write", Path: "p", Err: c.err})))
		if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.err, err, c.want)
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
