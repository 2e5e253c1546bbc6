// Package atomicfile writes a file whole or not at all.
package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/uma-gpu/uma-gpu/internal/fileerr"
)

// Write puts what write writes at path, whole or not at all: into a temporary
// file in the same folder, which is flushed to disk and then takes the place of
// path; then the folder is flushed, where the system can. On any failure, also a
// panic of write, the temporary file is removed and what was at path is as it
// was. Where the system allows it the file has no name before it is whole, so
// that a program which is killed leaves none behind.
//
// A new file has the permissions that the umask leaves; a file that is replaced
// keeps its own. A symbolic link stays, and the file it points to is replaced.
// Whatever is there and is not a regular file (a folder, a device, a pipe) is
// refused, and so is a link to nothing.
//
// The writer given to write is buffered and valid until write returns. The error
// begins with path and says what was found and what to do. It wraps the error of
// write, or of the system: errors.Is(err, syscall.ENOSPC) tells a full disk.
func Write(path string, write func(io.Writer) error) error {
	target, old, err := resolve(path)
	if err == nil {
		err = replace(target, old, write)
	}
	return notWritten(path, err)
}

// CheckWritable says early what would keep Write from writing path, such as a
// missing or unwritable folder, in the same words. It makes the temporary file
// that Write would make and removes it; path itself is not touched. It is no
// promise: the disk may be full by the time of writing.
func CheckWritable(path string) error {
	target, _, err := resolve(path)
	if err == nil {
		err = tryTemp(filepath.Dir(target))
	}
	return notWritten(path, err)
}

// replace is Write for a path without links; old is what is there, nil if
// nothing.
func replace(target string, old fs.FileInfo, write func(io.Writer) error) error {
	f, err := stage(target, old, write)
	if err != nil {
		return err
	}
	return f.place()
}

// staged is a file that is whole and on disk, but not at its place yet.
type staged struct {
	*temp
	path, target string
}

// stage writes a file that place puts at target. On failure nothing is left.
func stage(target string, old fs.FileInfo, write func(io.Writer) error) (_ *staged, err error) {
	f, err := createTemp(filepath.Dir(target))
	if err != nil {
		return nil, err
	}
	s := &staged{temp: f, target: target}
	whole := false
	defer func() { // deferred, so that it is done when write panics too
		if !whole {
			err = s.discard(err)
		}
	}()
	if old != nil { // before the first byte: it may be nobody else's business
		if err := f.Chmod(old.Mode().Perm()); err != nil {
			return nil, advised(err)
		}
	}
	// The buffer keeps its first error, so one that write swallows ends here.
	b := bufio.NewWriterSize(advising{f}, 1<<16)
	if err := write(b); err != nil {
		return nil, err
	}
	if err := b.Flush(); err != nil {
		return nil, err
	}
	if err := f.Sync(); err != nil {
		return nil, advised(err)
	}
	whole = true
	return s, nil
}

// place puts the file at its target, or removes it.
func (s *staged) place() (err error) {
	placed := false
	defer func() {
		if !placed {
			err = s.discard(err)
		}
	}()
	if err := s.ensureName(); err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return advised(err)
	}
	if err := os.Rename(s.name, s.target); err != nil {
		return advised(err)
	}
	placed = true
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

// Group puts several files at their places together or not at all, as far as a system allows it:
// each is written whole and flushed to disk before the first takes its place. The zero value is
// ready.
type Group struct{ files []*staged }

// Write is the package's Write, but that the file takes its place with Commit. After an error the
// group is to be discarded.
func (g *Group) Write(path string, write func(io.Writer) error) error {
	target, old, err := resolve(path)
	if err != nil {
		return notWritten(path, err)
	}
	f, err := stage(target, old, write)
	if err != nil {
		return notWritten(path, err)
	}
	f.path = path
	g.files = append(g.files, f)
	return nil
}

// Commit puts all files at their places, in the order in which they were written. An error, which
// is unlikely then, names the file that did not find its place; those before it have found theirs.
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
		f.discard(nil) // what stays is a temporary file, and the error that led here is the one to tell
	}
	g.files = nil
}

// resolve returns the file that path means, symbolic links followed, and what is
// there now, nil if nothing.
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
			fileerr.Kind(info.Mode()))
	}
	target, err = filepath.EvalSymlinks(path)
	if err != nil {
		return "", nil, advised(err)
	}
	return target, info, nil
}
