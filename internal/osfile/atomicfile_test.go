package osfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

func TestWriteNewAndOld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, want := range []string{"first", "", strings.Repeat("longer than any buffer ", 10000),
		"last"} {
		if err := CheckWritable(path); err != nil {
			t.Fatal(err)
		}
		if err := Write(path, text(want)); err != nil {
			t.Fatal(err)
		}
		wantText(t, path, want)
	}
	wantFiles(t, filepath.Dir(path), "f")
}

func TestRelativePath(t *testing.T) {
	t.Chdir(t.TempDir())
	for range 2 {
		if err := Write("f", text("here")); err != nil {
			t.Fatal(err)
		}
	}
	wantText(t, "f", "here")
	wantFiles(t, ".", "f")
}

func TestCheckWritableTouchesNothing(t *testing.T) {
	dir := t.TempDir()
	if err := CheckWritable(filepath.Join(dir, "new")); err != nil {
		t.Error(err)
	}
	wantFiles(t, dir)
	old := filepath.Join(dir, "old")
	put(t, old, "old")
	if err := CheckWritable(old); err != nil {
		t.Error(err)
	}
	wantFiles(t, dir, "old")
	wantText(t, old, "old")
}

// Write and CheckWritable refuse the same paths, with the same words, and leave
// nothing behind.
func TestUnwritablePaths(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "file"), "text")
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o777); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"dangling": "nowhere", "loop": "loop",
		"tofolder": "folder"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ path, want string }{
		{"", `"" name`},
		{filepath.Join(dir, "folder"), "folder"},
		{filepath.Join(dir, "tofolder"), "folder"},
		{filepath.Join(dir, "new") + string(filepath.Separator), "name end"},
		{filepath.Join(dir, "missing", "f"), "folder " + filepath.Join(dir,
			"missing") + " " + syscall.ENOENT.Error() + " folder"},
		{filepath.Join(dir, "file", "f"), "name folder"},
		{filepath.Join(dir, strings.Repeat("x", 300)), "name"},
		{filepath.Join(dir, "dangling"), "link nowhere"},
		{filepath.Join(dir, "loop"), "name"},
		{os.DevNull, "device"},
	} {
		called := false
		written := Write(c.path, func(io.Writer) error { called = true; return nil })
		for what, err := range map[string]error{"Write": written,
			"CheckWritable": CheckWritable(c.path)} {
			if !facts.Told(err, c.want) || !strings.HasPrefix(err.Error(), c.path) ||
				strings.Contains(err.Error(), ".tmp") {
				t.Errorf("%s(%.80q): error %v, want the path first and %q", what, c.path, err, c.want)
			}
		}
		if called {
			t.Errorf("%.80q: the contents were asked for", c.path)
		}
	}
	wantFiles(t, dir, "dangling", "file", "folder", "loop", "tofolder")
	wantText(t, filepath.Join(dir, "file"), "text")
}

// A name just short enough for the folder can be written: the temporary name is
// not made from it.
func TestLongestName(t *testing.T) {
	path := filepath.Join(t.TempDir(), strings.Repeat("x", 255))
	if err := Write(path, text("long")); err != nil {
		t.Fatal(err)
	}
	wantText(t, path, "long")
}

// Whatever byte the writing fails at, the old file stays and the temporary one goes. The error is
// the function's, without advice about the disk.
func TestFailedWriteLeavesOldFile(t *testing.T) {
	dir := t.TempDir()
	own := fmt.Errorf("row 5: %w", &fs.PathError{Op: "open", Path: "other", Err: syscall.ENOENT})
	whole := bytes.Repeat([]byte("0123456789abcdef"), 16384) // four buffers
	for n := 0; n <= len(whole); n += len(whole) / 32 {
		for _, name := range []string{"old", "new"} {
			path := filepath.Join(dir, name)
			if name == "old" {
				put(t, path, "old")
			}
			err := Write(path, func(w io.Writer) error {
				if _, err := w.Write(whole[:n]); err != nil {
					return err
				}
				return own
			})
			if !errors.Is(err, own) || err.Error() != path+
				": cannot be written (nothing was changed): row 5: open other: "+syscall.ENOENT.Error() {
				t.Fatalf("after %d bytes: error %v", n, err)
			}
			wantFiles(t, dir, "old")
			wantText(t, filepath.Join(dir, "old"), "old")
		}
	}
}

func TestPanicLeavesOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	put(t, path, "old")
	func() {
		defer func() {
			if r := recover(); r != "broken" {
				t.Errorf("recovered %v", r)
			}
		}()
		err := Write(path, func(w io.Writer) error {
			w.Write([]byte("half"))
			panic("broken")
		})
		t.Errorf("Write came back with %v", err)
	}()
	wantFiles(t, filepath.Dir(path), "f")
	wantText(t, path, "old")
}

// The file may be gone, or taken, by the time of renaming.
func TestFailedRename(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	err := Write(path, func(w io.Writer) error {
		return os.MkdirAll(filepath.Join(path, "in the way"), 0o777)
	})
	if err == nil || !strings.HasPrefix(err.Error(),
		path+": cannot be written (nothing was changed): ") || !facts.Told(err, "name") &&
		!facts.Told(err, "remove files") {
		t.Errorf("error %v", err)
	}
	wantFiles(t, dir, "f")

	gone := filepath.Join(dir, "gone")
	if err := os.Mkdir(gone, 0o777); err != nil {
		t.Fatal(err)
	}
	err = Write(filepath.Join(gone, "f"), func(w io.Writer) error { return os.RemoveAll(gone) })
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("folder removed: error %v", err)
	}
}

func TestPermissionsAndLinks(t *testing.T) {
	dir := t.TempDir()
	sub := filepath.Join(dir, "sub")
	if err := os.Mkdir(sub, 0o777); err != nil {
		t.Fatal(err)
	}
	file, link := filepath.Join(sub, "f"), filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join("sub", "f"), link); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []fs.FileMode{0o640, 0o600, 0o444, 0o777} {
		put(t, file, "old")
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		if err := Write(link, func(w io.Writer) error {
			// Not even for a moment may others read what they may not read later.
			return filepath.WalkDir(sub, func(path string, d fs.DirEntry, err error) error {
				if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() && info.Mode() != mode {
					t.Errorf("%s has mode %v (%v), want %v", path, info.Mode(), err, mode)
				}
				return err
			})
		}); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(file); err != nil || info.Mode() != mode {
			t.Errorf("mode %v (%v), want %v", info.Mode(), err, mode)
		}
		wantText(t, file, "")
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	put(t, file, "old")
	if err := Write(link, text("new")); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(link); err != nil || to != filepath.Join("sub", "f") {
		t.Errorf("the link leads to %q (%v)", to, err)
	}
	wantText(t, file, "new")
	wantFiles(t, dir, "link", "sub")
	wantFiles(t, sub, "f")
}

func TestLeftoverTemporaryFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	left := func(i int) string {
		return filepath.Join(filepath.Dir(path), fmt.Sprintf(".uma-gpu-%d-%d.tmp", os.Getpid(), i))
	}
	put(t, left(0), "half")
	if err := Write(path, text("whole")); err != nil {
		t.Fatal(err)
	}
	wantText(t, left(0), "half") // another process of this number may own it
	for i := range attempts {
		put(t, left(i), "half")
	}
	if err := Write(path, text("more")); !errors.Is(err, fs.ErrExist) ||
		!facts.Told(err, "uma-gpu-*.tmp") {
		t.Errorf("error %v", err)
	}
	wantText(t, path, "whole")
}

// Writers of the same path at the same time: one of them wins whole.
func TestManyWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			if err := Write(path, text(strings.Repeat(string(rune('a'+i)), 200000))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, err := os.ReadFile(path)
	if err != nil || len(got) != 200000 || bytes.Count(got, got[:1]) != len(got) {
		t.Errorf("%d bytes (%v), want all of one writer", len(got), err)
	}
	wantFiles(t, filepath.Dir(path), "f")
}

func TestAdvice(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{syscall.ENOSPC, "free some space"},
		{syscall.EDQUOT, "free some space"},
		{syscall.EFBIG, "raise the limit on file sizes"},
		{syscall.EACCES, "choose a folder that you may write to"},
		{syscall.EPERM, "choose a folder that you may write to"},
		{syscall.EROFS, "choose a folder that you may write to"},
		{syscall.ENOENT, "make the folder first"},
		{syscall.EIO, "choose another file name or folder"},
	} {
		err := notWritten("f", advised(&fs.PathError{Op: "write", Path: "temp", Err: c.err}))
		if !errors.Is(err, c.err) || !facts.Told(err, c.err.Error()+" "+c.want) ||
			strings.Contains(err.Error(), "temp") {
			t.Errorf("%v: %v, want %q", c.err, err, c.want)
		}
	}
}

// text returns a function that writes s a few bytes at a time.
func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		for len(s) > 0 {
			n := min(7, len(s))
			if _, err := io.WriteString(w, s[:n]); err != nil {
				return err
			}
			s = s[n:]
		}
		return nil
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func wantText(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s: %.80q (%v), want %.80q", path, got, err, want)
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
