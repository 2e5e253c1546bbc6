package osfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestCause(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	_, openErr := os.Open(missing)
	wrapped := fmt.Errorf("row 5: %w", openErr)
	for _, c := range []struct {
		err  error
		want string
	}{
		{openErr, syscall.ENOENT.Error()},
		{os.Rename(missing, missing+"2"), syscall.ENOENT.Error()},
		{os.NewSyscallError("fsync", syscall.EIO), syscall.EIO.Error()},
		{wrapped, wrapped.Error()}, // the words around it are not lost
		{io.EOF, "EOF"},
	} {
		got := Cause(c.err)
		if got.Error() != c.want {
			t.Errorf("Cause(%v) is %q, want %q", c.err, got, c.want)
		}
		var errno syscall.Errno
		if errors.As(c.err, &errno) && !errors.Is(got, errno) {
			t.Errorf("Cause(%v) is no longer %v", c.err, errno)
		}
	}
	if err := Cause(nil); err != nil {
		t.Errorf("Cause(nil) is %v", err)
	}
}

func TestKind(t *testing.T) {
	for _, c := range []struct {
		mode fs.FileMode
		want string
	}{
		{0o644, "a regular file"},
		{fs.ModeDir | 0o755, "a folder"},
		{fs.ModeDevice | fs.ModeCharDevice, "a device"},
		{fs.ModeDevice, "a device"},
		{fs.ModeNamedPipe, "a pipe"},
		{fs.ModeSocket, "a socket"},
		{fs.ModeSymlink, "a symbolic link"},
		{fs.ModeIrregular, "a special file"},
	} {
		if got := Kind(c.mode); got != c.want {
			t.Errorf("Kind(%v) is %q, want %q", c.mode, got, c.want)
		}
	}
}
