package osfile

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Write puts what write writes at path, whole or not at all: into a temporary file in the same
// folder, which is flushed to disk and then takes the place of path; then the folder is flushed,
// where the system can. After a failure, also a panic of write, the temporary file is gone and the
// old file unchanged. Where the system allows it the file has no name before it is whole, so that a
// program that is killed leaves none.
//
// A new file has the permissions that the umask leaves; a file that is replaced keeps its own. A
// symbolic link stays, and the file it points to is replaced. A folder, a device, a pipe and a link
// to nothing are refused.
//
// The writer given to write is buffered and valid until write returns. The error begins with path
// and says what was found and what to do. It wraps the error of write, or of the system:
// errors.Is(err, syscall.ENOSPC) detects a full disk.
func Write(path string, write func(io.Writer) error) error {
	f, err := stage(path, write)
	if err == nil {
		err = f.place()
	}
	return notWritten(path, err)
}

// CheckWritable returns early the error with which Write would refuse path, such as a missing or
// unwritable folder. It creates a temporary file and removes it; path itself is not touched. It is
// no guarantee: the disk may be full by the time of writing.
func CheckWritable(path string) error {
	target, _, err := resolve(path)
	if err == nil {
		f := &staged{target: target}
		if err = f.createNamed(); err == nil {
			err = errors.Join(f.Close(), os.Remove(f.name))
		}
	}
	return notWritten(path, err)
}

// Group puts several files at their places together or not at all, as far as a system allows it:
// each is written whole and flushed to disk before the first takes its place. The zero value is
// ready.
type Group struct{ files []*staged }

// Write is the package's Write, but that the file takes its place with Commit. After an error the
// group is to be discarded.
func (g *Group) Write(path string, write func(io.Writer) error) error {
	f, err := stage(path, write)
	if err != nil {
		return notWritten(path, err)
	}
	g.files = append(g.files, f)
	return nil
}

// Commit puts all files at their places, in the order in which they were written. An error, which
// is unlikely then, names the file that did not find its place; the files before it have theirs.
func (g *Group) Commit() error {
	for k, f := range g.files {
		if err := f.place(); err != nil {
			g.files = g.files[k+1:]
			g.Discard()
			return fmt.Errorf("%s: cannot be written, though the files before it were: %w", f.path, err)
		}
	}
	g.files = nil
	return nil
}

// Discard removes all that was not committed.
func (g *Group) Discard() {
	for _, f := range g.files {
		f.discard(nil) // a temporary file may stay; the error that led here is the one to tell
	}
	g.files = nil
}

// staged is a temporary file in the folder where it will stay.
type staged struct {
	*os.File
	path, target string // as it was given, and with links followed
	name         string // "" as long as it has none
}

// stage writes the file that place puts at path. On failure nothing is left.
func stage(path string, write func(io.Writer) error) (_ *staged, err error) {
	target, old, err := resolve(path)
	if err != nil {
		return nil, err
	}
	s := &staged{path: path, target: target}
	if s.File = createNameless(filepath.Dir(target)); s.File == nil {
		if err := s.createNamed(); err != nil {
			return nil, err
		}
	}
	whole := false
	defer func() { // deferred, so that it is done when write panics too
		if !whole {
			err = s.discard(err)
		}
	}()
	if old != nil { // before the first byte, which others may not be allowed to read
		if err := s.Chmod(old.Mode().Perm()); err != nil {
			return nil, advised(err)
		}
	}
	// The buffer keeps its first error, so one that write swallows ends here.
	b := bufio.NewWriterSize(advising{s}, 1<<16)
	if err := write(b); err != nil {
		return nil, err
	}
	if err := b.Flush(); err != nil {
		return nil, err
	}
	if err := s.Sync(); err != nil {
		return nil, advised(err)
	}
	whole = true
	return s, nil
}

// createNamed makes the file with a name. Unlike os.CreateTemp it leaves the permissions to the
// umask, since the file will stay.
func (s *staged) createNamed() error {
	return s.findName(func(name string) (err error) {
		s.File, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		return err
	})
}

// attempts is how many temporary names are tried.
const attempts = 1000

// findName has take try names until one is free. They are short whatever the name of the file will
// be, so that every valid path can be written.
func (s *staged) findName(take func(name string) error) error {
	dir := filepath.Dir(s.target)
	for i := 0; ; i++ {
		name := filepath.Join(dir, fmt.Sprintf(".uma-gpu-%d-%d.tmp", os.Getpid(), i))
		err := take(name)
		if errors.Is(err, fs.ErrExist) && i < attempts-1 {
			continue // of another writer in this process, or left by a killed one
		}
		if err != nil {
			return fmt.Errorf("creating a file in folder %s: %w", dir, advised(err))
		}
		s.name = name
		return nil
	}
}

// place puts the file at its target, or removes it.
func (s *staged) place() (err error) {
	if s.name == "" {
		err = s.findName(func(name string) error { return link(s.File, name) })
	}
	if err != nil {
		return s.discard(err)
	}
	if err := s.Close(); err != nil {
		return s.discard(advised(err))
	}
	if err := os.Rename(s.name, s.target); err != nil {
		return s.discard(advised(err))
	}
	syncFolder(filepath.Dir(s.target))
	return nil
}

// syncFolder flushes the names of dir to disk, so that a power cut after Write does not bring the
// old file back; it reports whether that was done. Some file systems cannot, and the file is at
// its place already and whole: to fail then would be to say that nothing was changed.
func syncFolder(dir string) bool {
	d, err := os.Open(dir)
	if err != nil {
		return false // a folder may be writable and not readable
	}
	defer d.Close()
	return d.Sync() == nil
}

// discard removes the file, and returns err with what went wrong besides.
func (s *staged) discard(err error) error {
	s.Close() // perhaps for the second time; the first error is the one to tell
	if s.name == "" {
		return err
	}
	if stays := os.Remove(s.name); stays != nil {
		return fmt.Errorf("%w; and the temporary file stays: %w", err, stays)
	}
	return err
}

// resolve returns the file that path means, symbolic links followed, and what is there now, nil if
// nothing.
func resolve(path string) (target string, old fs.FileInfo, err error) {
	if path == "" || os.IsPathSeparator(path[len(path)-1]) {
		return "", nil, errors.New("found no file name at its end; name a file")
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if to, err := os.Readlink(path); err == nil {
			return "", nil, fmt.Errorf("found a symbolic link to %s, which does not exist; "+
				"remove the link or choose another name", to)
		}
		return path, nil, nil
	}
	if err != nil {
		return "", nil, advised(err)
	}
	if !info.Mode().IsRegular() {
		return "", nil, fmt.Errorf("found %s, wanted a regular file or nothing; choose another name",
			Kind(info.Mode()))
	}
	if target, err = filepath.EvalSymlinks(path); err != nil {
		return "", nil, advised(err)
	}
	return target, info, nil
}

// notWritten puts path and what became of it before an error; nil stays nil.
func notWritten(path string, err error) error {
	if err == nil {
		return nil
	}
	path = cmp.Or(path, `""`)
	return fmt.Errorf("%s: cannot be written (nothing was changed): %w", path, err)
}

// advised adds to an error of the system what the user can do about it, and drops the temporary
// name, which would only puzzle.
func advised(err error) error {
	for _, a := range []struct {
		advice string
		causes []error
	}{
		{"free some space, or choose a folder on another disk", []error{syscall.ENOSPC, syscall.EDQUOT}},
		{"raise the limit on file sizes (ulimit -f), or choose a folder on another disk",
			[]error{syscall.EFBIG}},
		{"choose a folder that you may write to", []error{fs.ErrPermission, syscall.EROFS}},
		{"make the folder first, or check its name", []error{fs.ErrNotExist}},
		{"remove the files .uma-gpu-*.tmp that were left there", []error{fs.ErrExist}},
	} {
		for _, cause := range a.causes {
			if errors.Is(err, cause) {
				return fmt.Errorf("%w; %s", Cause(err), a.advice)
			}
		}
	}
	return fmt.Errorf("%w; choose another file name or folder", Cause(err))
}

// advising is a writer whose errors are advised, at their source: what a caller's write function
// says by itself, or about another file, stays as it is.
type advising struct{ w io.Writer }

func (a advising) Write(p []byte) (int, error) {
	n, err := a.w.Write(p)
	if err != nil {
		err = advised(err)
	}
	return n, err
}
