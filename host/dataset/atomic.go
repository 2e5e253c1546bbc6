package dataset

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// writeAtomic puts what write produces at path, whole or not at all: it goes to
// a new file in the same folder that is renamed when everything is on disk, and
// is removed after any error.
func writeAtomic(path string, write func(io.Writer) error) (err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s: is not a regular file (%s), wanted a file name to write to", path, info.Mode().Type())
	}
	f, err := createBeside(path)
	if err != nil {
		return fmt.Errorf("%s: cannot write there: %w", path, err)
	}
	temp := f.Name()
	defer func() {
		if err != nil {
			// The first error is the one to tell; Close may be the second call.
			f.Close()
			os.Remove(temp)
			err = fmt.Errorf("%s: nothing was written: %w", path, err)
		}
	}()
	if err = write(f); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

// createBeside makes a new hidden file in path's folder, with the permissions
// that the process gives to new files (os.CreateTemp would give 0600).
func createBeside(path string) (*os.File, error) {
	stem := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+strconv.Itoa(os.Getpid())+".")
	var err error
	for k := range 100 {
		var f *os.File
		f, err = os.OpenFile(stem+strconv.Itoa(k)+".tmp", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
	return nil, err
}
