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
	"slices"
	"syscall"
)

// Write puts what write writes at path, whole or not at all: into a temporary file in the same
// folder, which is flushed to disk and then takes the place of path; then the folder is flushed,
// where the system can. After a failure, also a panic of write, the temporary file is gone and the
// old file unchanged. Where the system allows it the file has no name before it is whole, so that a
// program that is killed leaves none; one that is killed in the instant between naming a whole file
// and replacing another leaves .uma-gpu-PID-N.tmp, which the next program that writes into the
// folder removes.
//
// A new file has the permissions that the umask leaves; a file that is replaced keeps its own. A
// symbolic link stays, and the file it points to is replaced. A folder, a device, a pipe and a link
// to nothing are refused.
//
// The writer given to write is buffered and valid until write returns. The error begins with path
// and says what was found and what to do. It wraps the error of write, or of the system:
// errors.Is(err, syscall.ENOSPC) detects a full disk.
func Write(path string, write func(io.Writer) error) error {
	var g Group
	if err := g.Write(path, write); err != nil {
		return err
	}
	return g.Commit()
}

// CheckWritable returns early the error with which Write would refuse path, such as a missing or
// unwritable folder. It creates a temporary file, nameless where it can be; path itself is not
// touched. It is no guarantee: the disk may be full by the time of writing.
func CheckWritable(path string) error {
	target, _, err := resolve(path)
	if err == nil {
		f := &staged{target: target}
		if err = f.create(); err == nil {
			err = f.discard(nil)
		}
	}
	return notWritten(path, err)
}

// Group puts several files at their places together or not at all: each is written whole and
// flushed to disk before the first takes its place. The zero value is ready. A kill while Commit
// runs may leave some files new and others old, each of them whole; CommitFolder has no such
// instant.
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

// Commit puts all files at their places, in the order in which they were written. After an error,
// which is unlikely then, the places have what they had before.
func (g *Group) Commit() error {
	for k, f := range g.files {
		if err := f.place(k == len(g.files)-1); err != nil {
			for _, placed := range slices.Backward(g.files[:k]) {
				if stays := placed.takeBack(); stays != nil {
					err = fmt.Errorf("%w; and %s is replaced already: %w", err, placed.path, stays)
				}
			}
			g.Discard()
			return notWritten(f.path, err)
		}
	}
	for _, f := range g.files {
		f.discard(nil) // the file before it
		syncFolder(filepath.Dir(f.target))
	}
	g.files = nil
	return nil
}

// CommitFolder is Commit of files that all lie in dir: a copy of the folder, with the new files in
// it, takes its place in one step, and no kill mixes new files with old ones. Where that cannot be,
// it is Commit: without Linux, in a folder that is the working directory, holds folders or links,
// or whose parent cannot be written.
func (g *Group) CommitFolder(dir string) error {
	next, err := g.folder(dir)
	if err != nil {
		err = g.Commit()
	}
	os.RemoveAll(next) // the folder before, or an empty one
	syncFolder(filepath.Dir(next))
	g.Discard()
	return err
}

// folder has a new folder of all files take the place of dir, and returns where the one before is.
func (g *Group) folder(dir string) (next string, err error) {
	old, err := filepath.EvalSymlinks(dir)
	if err == nil {
		old, err = filepath.Abs(old)
	}
	if err != nil {
		return "", err
	}
	about, err := os.Stat(old)
	if err != nil {
		return "", err
	}
	if here, err := os.Stat("."); err != nil || os.SameFile(about, here) {
		return "", errors.ErrUnsupported
	}
	entries, err := os.ReadDir(old)
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !e.Type().IsRegular() }) {
		return "", errors.ErrUnsupported
	}
	sweep(filepath.Dir(old))
	s := &staged{target: old}
	err = s.findName(func(name string) error { return os.Mkdir(name, 0o700) })
	next = s.name
	if d, err := os.Open(next); err == nil {
		lock(d)
		defer d.Close() // nothing was written through it
	}
	for _, f := range g.files {
		place := filepath.Join(next, filepath.Base(f.target))
		if err == nil && f.name != "" {
			err = os.Rename(f.name, place)
		} else if err == nil {
			err = link(f.File, place)
		}
		if err == nil {
			f.name = place // from where Commit takes it
		}
	}
	for _, e := range entries {
		if err == nil {
			err = os.Link(filepath.Join(old, e.Name()), filepath.Join(next, e.Name()))
		}
		if errors.Is(err, fs.ErrExist) {
			err = nil // there is a new one
		}
	}
	if err == nil {
		err = sameRights(next, about)
	}
	if err == nil && !syncFolder(next) {
		err = errors.ErrUnsupported
	}
	if err == nil {
		err = exchange(next, old)
	}
	for _, f := range g.files {
		if err == nil {
			f.name = "" // none that is left to remove
		}
	}
	return next, err
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
	replaces     bool   // another file is at target
	exchanged    bool   // that file has the name now
}

// stage writes the file that place puts at path. On failure nothing is left.
func stage(path string, write func(io.Writer) error) (_ *staged, err error) {
	target, old, err := resolve(path)
	if err != nil {
		return nil, err
	}
	s := &staged{path: path, target: target, replaces: old != nil}
	sweep(filepath.Dir(target))
	if err := s.create(); err != nil {
		return nil, err
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

// create makes the file, without a name where that is possible. Unlike os.CreateTemp it leaves the
// permissions to the umask, since the file will stay.
func (s *staged) create() error {
	if s.File = createNameless(filepath.Dir(s.target), 0o666); s.File != nil {
		return nil
	}
	return s.findName(func(name string) (err error) {
		if s.File, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666); err == nil {
			lock(s.File)
		}
		return err
	})
}

// Temporary returns a file in dir, "" for the default folder, that has no name, or none any more
// where the system can remove an open file. It is gone when it is closed.
func Temporary(dir string) (*os.File, error) {
	dir = cmp.Or(dir, os.TempDir())
	if f := createNameless(dir, 0o600); f != nil {
		return f, nil
	}
	f, err := os.CreateTemp(dir, ".uma-gpu-")
	if err == nil {
		os.Remove(f.Name()) // where that is not possible, it stays
	}
	return f, err
}

// attempts is how many temporary names are tried.
const attempts = 1000

// temporaryName has the number of the process and of the file.
const temporaryName = ".uma-gpu-%d-%d.tmp"

// findName has take try names until one is free. They are short whatever the name of the file will
// be, so that every valid path can be written.
func (s *staged) findName(take func(name string) error) error {
	dir := filepath.Dir(s.target)
	for i := 0; ; i++ {
		name := filepath.Join(dir, fmt.Sprintf(temporaryName, os.Getpid(), i))
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

// place puts the file at its target. Unless it is the last of its group, takeBack can undo that.
func (s *staged) place(last bool) error {
	if s.name == "" {
		err := link(s.File, s.target)
		if !errors.Is(err, fs.ErrExist) {
			return advised(err)
		}
		if err = s.findName(func(name string) error { return link(s.File, name) }); err != nil {
			return err
		}
	} else if err := s.Close(); err != nil { // a linked one stays open, so that its lock stays
		return advised(err)
	}
	if !last && exchange(s.name, s.target) == nil {
		s.exchanged = true
		return nil
	}
	err := os.Rename(s.name, s.target)
	if err == nil {
		s.name = ""
	}
	return advised(err)
}

// takeBack undoes place, as far as the file before is there.
func (s *staged) takeBack() error {
	switch {
	case s.exchanged:
		return exchange(s.name, s.target)
	case s.replaces:
		return errors.New("its file system cannot exchange files")
	}
	return os.Remove(s.target)
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
		return errors.Join(err, fmt.Errorf("the temporary file stays: %w", stays))
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
// name, which would only puzzle; nil stays nil.
func advised(err error) error {
	if err == nil {
		return nil
	}
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
