package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"

	"github.com/uma-gpu/uma-gpu/internal/fileerr"
)

// notWritten puts path and what became of it before an error; nil stays nil.
func notWritten(path string, err error) error {
	if err == nil {
		return nil
	}
	if path == "" {
		path = `""`
	}
	return fmt.Errorf("%s: cannot be written (nothing was changed): %w", path, err)
}

// advised adds to an error of the system what the user can do about it, and drops
// the temporary name, which would only puzzle.
func advised(err error) error {
	return fmt.Errorf("%w; %s", fileerr.Cause(err), advice(err))
}

func advice(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "free some space, or choose a folder on another disk"
	case errors.Is(err, syscall.EFBIG):
		return "raise the limit on file sizes (ulimit -f), or choose a folder on another disk"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return "choose a folder that you may write to"
	case errors.Is(err, fs.ErrNotExist):
		return "make the folder first, or check its name"
	case errors.Is(err, fs.ErrExist):
		return "remove the files .uma-gpu-*.tmp that were left there"
	}
	return "choose another file name or folder"
}

// advising is a writer whose errors are advised, at their source: what a caller's
// write function says by itself, or about another file, stays as it is.
type advising struct{ w io.Writer }

func (a advising) Write(p []byte) (int, error) {
	n, err := a.w.Write(p)
	if err != nil {
		err = advised(err)
	}
	return n, err
}
