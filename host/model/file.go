package model

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Save writes m to the file path, whole or not at all: to a temporary file in the
// same folder, which is flushed to disk and then takes the place of path. On
// any failure the temporary file is removed and a file that was there before is
// unchanged. A file that is replaced keeps its permissions; a symbolic link
// stays and the file it points to is replaced. Anything else than a regular file
// at path is refused. The error names path, what failed, and what to do.
func (m *Model) Save(path string) error {
	members, err := m.members()
	if err != nil {
		return fmt.Errorf("model file %s not written: %w", path, err)
	}
	return replaceFile(path, func(w io.Writer) error { return writeZip(w, members) })
}

// Load reads the model file path, by the rules of Read. The error names path.
func Load(path string) (*Model, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("model file %s: %w: check the name", path, cause(err))
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait for ever
		return nil, fmt.Errorf("model file %s: found %s, wanted a regular file", path, kind(info))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("model file %s: %w: check that you may read it", path, cause(err))
	}
	defer f.Close() // only read: nothing can fail that matters
	m, err := Read(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("model file %s: %w", path, err)
	}
	return m, nil
}

// CheckWritable says early what would keep Save from writing path: a missing or
// unwritable folder, a folder or a device at path. It makes the temporary file
// that Save would make and removes it; path itself is not touched. It is no
// promise that the disk will have room.
func CheckWritable(path string) error {
	target, _, err := resolve(path)
	if err != nil {
		return err
	}
	f, err := createTemp(filepath.Dir(target))
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		return notWritten(path, err)
	}
	return nil
}

// replaceFile puts what write writes in the place of path, by the rules of Save.
func replaceFile(path string, write func(io.Writer) error) error {
	target, old, err := resolve(path)
	if err != nil {
		return err
	}
	f, err := createTemp(filepath.Dir(target))
	if err != nil {
		return notWritten(path, err)
	}
	err = write(f)
	if err == nil && old != nil {
		err = f.Chmod(old.Mode().Perm())
	}
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	// No flush of the folder: after a power cut path is the old file or the new
	// one, and either is whole.
	if err == nil {
		err = os.Rename(f.Name(), target)
	}
	if err != nil {
		return notWritten(path, errors.Join(cause(err), os.Remove(f.Name())))
	}
	return nil
}

// resolve returns the file that path means, symbolic links followed, and what is
// there now, nil if nothing.
func resolve(path string) (string, fs.FileInfo, error) {
	if path == "" || os.IsPathSeparator(path[len(path)-1]) {
		return "", nil, fmt.Errorf("model file %q cannot be written: found no file name, wanted one such as model.npz", path)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path, nil, nil
	case err != nil:
		return "", nil, notWritten(path, cause(err))
	case info.IsDir():
		return "", nil, fmt.Errorf("model file %s cannot be written: it is a folder: name a file in it, such as %s", path, filepath.Join(path, "model.npz"))
	case !info.Mode().IsRegular():
		return "", nil, fmt.Errorf("model file %s cannot be written: found %s, wanted a regular file: choose another name", path, kind(info))
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", nil, notWritten(path, cause(err))
	}
	return target, info, nil
}

// createTemp makes a new file in dir that nobody else has. Unlike os.CreateTemp
// it leaves the permissions to the umask, since the file will stay.
func createTemp(dir string) (*os.File, error) {
	const attempts = 1000
	for i := 0; ; i++ {
		name := filepath.Join(dir, fmt.Sprintf(".uma-gpu-%d-%d.tmp", os.Getpid(), i))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) && i < attempts {
			continue // another writer of this process, or left by a killed one
		}
		if err != nil {
			return nil, fmt.Errorf("creating a file in folder %s: %w", dir, cause(err))
		}
		return f, nil
	}
}

// notWritten says that path was not written, why, and what to do about it.
func notWritten(path string, err error) error {
	return fmt.Errorf("model file %s cannot be written (nothing was changed): %w: %s", path, err, advice(err))
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
	}
	return "choose another file name or folder"
}

// cause strips operation and path from an error of package os: the messages here
// name the path already, and a temporary name would only puzzle.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		return l.Err
	}
	return err
}

func kind(info fs.FileInfo) string {
	switch m := info.Mode(); {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeDevice != 0:
		return "a device"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	}
	return "no regular file"
}
