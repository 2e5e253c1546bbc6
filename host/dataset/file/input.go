package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
)

// input is a file, or a copy of what a pipe gave, so that it can be read again.
type input struct {
	ctx    context.Context
	path   string // for messages
	limits limits
	at     io.ReaderAt
	size   int64
	file   *os.File    // that at is; nil if it is memory
	info   fs.FileInfo // of a file with a name, when it was opened; nil of what was copied
	sheet  *sheet      // that it holds, when it was opened before; nil for none
}

// openInput opens a file, "-" for standard input; the caller closes it.
func openInput(ctx context.Context, path string, stdin io.Reader) (*input, error) {
	if path == "-" {
		if stdin == nil {
			stdin = os.Stdin
		}
		return copyInput(ctx, "standard input", stdin, true)
	}
	name, _ := SplitSheet(path)
	f, err := openFile(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &missingFile{path, osfile.Cause(err)}
	}
	var info fs.FileInfo
	if err == nil {
		if info, err = f.Stat(); err != nil {
			f.Close() // nothing was read
		}
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: cannot open the data file: %w", path, osfile.Cause(err))
	case info.IsDir():
		f.Close() // nothing was read
		return nil, fmt.Errorf("%s: is a directory, wanted a data file", path)
	case info.Mode().IsRegular():
		return &input{ctx: ctx, path: path, limits: defaultLimits, at: f, size: info.Size(), file: f,
			info: info}, nil
	}
	defer f.Close() // only read
	return copyInput(ctx, path, f, true)
}

// copyInput copies what r gives: a little to memory, more to a temporary file without a name.
func copyInput(ctx context.Context, path string, r io.Reader, waits bool) (*input, error) {
	const little = 4 << 20
	_, task := progress.Begin(ctx, progress.Work{Name: "reading " + path, Unit: progress.Bytes})
	defer task.End()
	from := reading{ctx, r, waits, task}
	in := &input{ctx: ctx, path: path, limits: defaultLimits}
	var head bytes.Buffer
	_, err := io.CopyN(&head, from, little)
	in.at, in.size = bytes.NewReader(head.Bytes()), int64(head.Len())
	if err == nil && endless(r, head.Bytes()) {
		return nil, fmt.Errorf("%s: found a device, or a pipe that begins with %d zeros, wanted a file "+
			"or a pipe with an end", path, little)
	}
	if err == nil {
		if in.file, err = osfile.Temporary(""); err != nil {
			return nil, fmt.Errorf("%s: cannot make a temporary copy of more than %d bytes: %w; set TMPDIR",
				path, little, osfile.Cause(err))
		}
		in.at = in.file
		if in.size, err = io.Copy(in.file, io.MultiReader(&head, from)); err == nil {
			return in, nil
		}
		in.close()
	}
	if err == io.EOF {
		return in, nil
	}
	return nil, fmt.Errorf("%s: cannot read: %w", path, osfile.Cause(err))
}

// endless reports whether r, which begins with head, has no end: a device, or nothing but zeros.
func endless(r io.Reader, head []byte) bool {
	if f, ok := r.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&fs.ModeCharDevice != 0 {
			return true
		}
	}
	return len(bytes.Trim(head, "\x00")) == 0
}

// close gives back what in holds.
func (in *input) close() {
	if in.file != nil {
		in.file.Close() // only read
	}
}

// open returns a source that begins at the beginning, and what ends it.
func (in *input) open() (*source, func(), error) {
	_, task := progress.Begin(in.ctx, progress.Work{Name: "reading " + in.path, Unit: progress.Bytes,
		Total: in.size})
	l := in.limits
	if in.file == nil {
		l.length = int(in.size)
	}
	var s *source
	var err error
	if in.sheet != nil {
		s = &source{ctx: in.ctx, path: in.path, limits: l}
		s.show(in.sheet)
	} else {
		s, err = newSource(in.ctx, in.path, reading{in.ctx, io.NewSectionReader(in.at, 0, in.size),
			false, task}, l)
	}
	if err != nil {
		task.End()
		return nil, nil, err
	}
	s.in, in.sheet = in, s.sheet
	if s.packed == "" && s.coding == nil && s.sheet == nil && in.file != nil {
		s.file, s.size, s.task = in.file, in.size, task
	}
	return s, func() { s.close(); task.End() }, nil
}

// unchanged returns an error if the file was written to since it was opened.
func (in *input) unchanged() error {
	if in.info == nil {
		return nil
	}
	is, err := in.file.Stat()
	if err != nil {
		return fmt.Errorf("%s: %w", in.path, osfile.Cause(err))
	}
	if is.Size() != in.info.Size() || !is.ModTime().Equal(in.info.ModTime()) {
		return fmt.Errorf("%s: the file changed while it was read: found %d bytes of %v, wanted %d of "+
			"%v as before; read it when it is whole", in.path, is.Size(),
			is.ModTime().Format(time.StampMicro), in.info.Size(), in.info.ModTime().Format(time.StampMicro))
	}
	return nil
}

// openSource opens a file that is read once; the caller closes it.
func openSource(ctx context.Context, path string, stdin io.Reader) (*source, func(), error) {
	in, err := openInput(ctx, path, stdin)
	if err != nil {
		return nil, nil, err
	}
	s, done, err := in.open()
	if err != nil {
		in.close()
		return nil, nil, err
	}
	return s, func() { done(); in.close() }, nil
}
