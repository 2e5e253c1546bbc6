package osfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// A limit on file sizes stops the kernel in the middle of a write, as a full disk
// does, and needs no rights. With the smaller contents the writing fails when
// the buffer is flushed, behind the back of the function that wrote them.
func TestBeyondFileSizeLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	put(t, path, "old")
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{1001, 60000, 1 << 20} {
		for what, write := range map[string]func(io.Writer) error{
			"told":      text(strings.Repeat("x", size)),
			"swallowed": func(w io.Writer) error { text(strings.Repeat("x", size))(w); return nil },
		} {
			if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1000,
				Max: old.Max}); err != nil {
				t.Fatal(err)
			}
			err := Write(path, write)
			if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
				t.Fatal(err)
			}
			if !errors.Is(err, syscall.EFBIG) || !strings.HasPrefix(err.Error(),
				path+": cannot be written (nothing was changed): file too large; raise the limit on file "+
					"sizes (ulimit -f)") {
				t.Errorf("%d bytes, error %s: %v, want %v with the path and what to do", size, what, err,
					syscall.EFBIG)
			}
			wantFiles(t, filepath.Dir(path), "f")
			wantText(t, path, "old")
		}
	}
	if err := Write(path, text("new")); err != nil {
		t.Error(err)
	}
	wantText(t, path, "new")
}

// A device that is always full gives the error of a full disk, with the advice
// for it and at the buffer's end.
func TestFullDevice(t *testing.T) {
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := bufio.NewWriter(advising{f})
	if _, err := b.WriteString("text"); err != nil {
		t.Fatal(err)
	}
	if err := b.Flush(); !errors.Is(err, syscall.ENOSPC) ||
		err.Error() != "no space left on device; free some space, or choose a folder on another disk" {
		t.Errorf("error %v", err)
	}
	if err := Write("/dev/full", text("text")); !facts.Told(err, "/dev/full device") {
		t.Errorf("Write: error %v", err)
	}
}

// Not even root can make a file in /proc.
func TestUnwritableFolder(t *testing.T) {
	const path = "/proc/f"
	for what, err := range map[string]error{"Write": Write(path, text("text")),
		"CheckWritable": CheckWritable(path)} {
		if err == nil || !strings.HasPrefix(err.Error(),
			"/proc/f: cannot be written (nothing was changed): creating a file in folder /proc: ") {
			t.Errorf("%s: error %v", what, err)
		}
	}
}

func TestPipeIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{"Write": Write(path, text("text")),
		"CheckWritable": CheckWritable(path)} {
		if !facts.Told(err, "pipe") {
			t.Errorf("%s: error %v", what, err)
		}
	}
	wantFiles(t, filepath.Dir(path), "pipe")
}

// The umask decides about a new file.
func TestUmask(t *testing.T) {
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)
	path := filepath.Join(t.TempDir(), "f")
	if err := Write(path, text("text")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o640 {
		t.Errorf("mode %v (%v), want 0640", info.Mode(), err)
	}
}

// A writer that is killed leaves nothing: until it is whole the file has no name.
func TestNamelessWhileWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, want := range []string{"first", "second"} {
		err := Write(path, func(w io.Writer) error {
			if want == "first" {
				wantFiles(t, filepath.Dir(path))
			} else {
				wantFiles(t, filepath.Dir(path), "f")
			}
			_, err := io.WriteString(w, want)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		wantText(t, path, want)
	}
	wantFiles(t, filepath.Dir(path), "f")
}

// A file or folder that a killed program left is removed by the next one that writes into its
// folder, unless another program has locked it, or may be about to.
func TestLeftoversAreRemoved(t *testing.T) {
	defer func(d time.Duration) { leftAfter = d }(leftAfter)
	const gone, alive = 1 << 22, 1 // beyond the largest number of a process, and the first process
	for _, c := range []struct {
		process      int
		locked, stay bool
		after        time.Duration
	}{
		{gone, false, false, time.Hour},
		{gone, true, true, time.Hour},
		{alive, false, true, time.Hour},
		{alive, false, false, 0},
		{alive, true, true, 0},
	} {
		dir := t.TempDir()
		leftAfter = c.after
		want := []string{".uma-gpu.tmp", "f"}
		for k := range 2 {
			name := fmt.Sprintf(temporaryName, c.process, k)
			if c.stay {
				want = append(want, name)
			}
			path := filepath.Join(dir, name)
			if k == 0 {
				put(t, path, "left")
			} else if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
			held, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer held.Close()
			if c.locked {
				lock(held)
			}
		}
		put(t, filepath.Join(dir, ".uma-gpu.tmp"), "another program's")
		if err := Write(filepath.Join(dir, "f"), text("new")); err != nil {
			t.Error(err)
		}
		slices.Sort(want)
		wantFiles(t, dir, want...)
	}
}

// When the last file of a group cannot take its place, the others are as before.
func TestGroupTakesBack(t *testing.T) {
	dir := t.TempDir()
	var g Group
	put(t, filepath.Join(dir, "a"), "old")
	for _, name := range []string{"a", "b", "c"} {
		if err := g.Write(filepath.Join(dir, name), text("new")); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "c", "full"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := g.Commit(); !facts.Told(err, filepath.Join(dir, "c")+" nothing was changed") {
		t.Errorf("error %v", err)
	}
	wantFiles(t, dir, "a", "c")
	wantText(t, filepath.Join(dir, "a"), "old")
}

// A folder changes in one step, and keeps its other files, its permissions and what links to it.
func TestFolderInOneStep(t *testing.T) {
	top := t.TempDir()
	for _, c := range []struct {
		name  string
		setup func(dir string) error
		step  bool // the folder is another one afterwards
	}{
		{"empty", func(string) error { return nil }, true},
		{"with files", func(dir string) error { put(t, filepath.Join(dir, "a"), "old"); return nil }, true},
		{"with a folder", func(dir string) error { return os.Mkdir(filepath.Join(dir, "sub"), 0o777) },
			false},
	} {
		dir, alias := filepath.Join(top, c.name), filepath.Join(top, "link")
		err := errors.Join(os.Mkdir(dir, 0o751), c.setup(dir), os.Symlink(dir, alias))
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, "kept"), "kept")
		before, _ := os.Stat(dir)
		var g Group
		for _, name := range []string{"a", "b"} {
			if err := g.Write(filepath.Join(alias, name), text("new")); err != nil {
				t.Fatal(err)
			}
		}
		if err := g.CommitFolder(alias); err != nil {
			t.Fatal(err)
		}
		wantText(t, filepath.Join(dir, "a"), "new")
		wantText(t, filepath.Join(dir, "b"), "new")
		wantText(t, filepath.Join(dir, "kept"), "kept")
		after, err := os.Stat(dir)
		if err != nil || after.Mode() != before.Mode() || os.SameFile(before, after) == c.step {
			t.Errorf("%s: mode %v (%v), want %v; another folder: %v", c.name, after.Mode(), err,
				before.Mode(), c.step)
		}
		if err := errors.Join(os.Remove(alias), os.RemoveAll(dir)); err != nil {
			t.Fatal(err)
		}
		wantFiles(t, top)
	}
}

// The folder is flushed where that can be done; where it cannot, the file is written all the same.
func TestFolderIsFlushed(t *testing.T) {
	dir := t.TempDir()
	if !syncFolder(dir) {
		t.Error("the folder was not flushed")
	}
	if syncFolder(filepath.Join(dir, "none")) {
		t.Error("a folder that is not there was flushed")
	}
	if err := os.Chmod(dir, 0o300); err != nil { // readable by root alone
		t.Fatal(err)
	}
	if err := Write(filepath.Join(dir, "f"), text("whole")); err != nil {
		t.Error(err)
	}
	wantText(t, filepath.Join(dir, "f"), "whole")
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
}
