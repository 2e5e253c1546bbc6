package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// temp is a temporary file in the folder where it will stay.
type temp struct {
	*os.File
	dir  string
	name string // "" as long as it has none
}

// createTemp makes a new file in dir that nobody else has. Unlike os.CreateTemp
// it leaves the permissions to the umask, since the file will stay.
func createTemp(dir string) (*temp, error) {
	if f := createNameless(dir); f != nil {
		return &temp{f, dir, ""}, nil
	}
	return createNamed(dir)
}

// createNamed is createTemp with a name from the beginning.
func createNamed(dir string) (*temp, error) {
	f := &temp{dir: dir}
	err := f.findName(func(name string) (err error) {
		f.File, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		return err
	})
	return f, err
}

// ensureName gives f a name, if it has none.
func (f *temp) ensureName() error {
	if f.name != "" {
		return nil
	}
	return f.findName(func(name string) error { return link(f.File, name) })
}

// attempts is how many temporary names are tried.
const attempts = 1000

// findName tries to take names until one is free. They are short whatever the name of the
// file will be, so that every valid path can be written.
func (f *temp) findName(take func(name string) error) error {
	for i := 0; ; i++ {
		name := filepath.Join(f.dir, fmt.Sprintf(".uma-gpu-%d-%d.tmp", os.Getpid(), i))
		err := take(name)
		if errors.Is(err, fs.ErrExist) && i < attempts-1 {
			continue // of another writer in this process, or left by a killed one
		}
		if err != nil {
			return fmt.Errorf("creating a file in folder %s: %w", f.dir, advised(err))
		}
		f.name = name
		return nil
	}
}

// tryTemp makes a temporary file in dir and removes it.
func tryTemp(dir string) error {
	f, err := createNamed(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.name))
}
