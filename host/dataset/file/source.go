package file

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
	"time"

	"github.com/uma-gpu/uma-gpu/host/dataset/internal/packing"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/fileerr"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// limits bound the memory that a small or damaged file can ask for, and counts.
type limits struct {
	// buffer is the number of bytes read at a time.
	buffer int
	// length is how many bytes there are before they are unpacked, if that is known, else 0.
	length int
	// line is the largest number of bytes in one line (in CSV, one record).
	line int
	// dense and perByte allow dense examples max(dense, perByte · unpacked bytes).
	dense, perByte int64
	// whole is the most bytes of a packed .npz or Parquet, read as a whole.
	whole int64
	// window is the largest window of zstd, which is memory, in bytes.
	window uint64
	// rows and columns are the most examples and features: engines count in 32 bits.
	rows, columns int
	// first is how many segments the first block of a stream has, which tell classes and width.
	first int
}

var defaultLimits = limits{buffer: 1 << 20, line: 1 << 28, dense: 1 << 30, perByte: 512,
	whole: 1 << 32, window: 1 << 28, rows: math.MaxInt32, columns: math.MaxInt32,
	first: 16}

// source gives the bytes or lines of a file, unpacked, and knows their numbers.
type source struct {
	ctx    context.Context // of reading, which ends with it
	path   string
	limits limits
	r      *bufio.Reader
	packed string       // the name of a packing, or ""
	utf16  bool         // the text is UTF-16
	size   int64        // of file
	file   *os.File     // the file if r gives its bytes as they are, so that any place can be read
	same   func() error // says that the file changed while it was read; nil of what is no regular file
	task   *progress.Task
	unpack io.Closer
	mark   int    // bytes of the byte order mark
	line   int    // number of the line that next returned last, from 1; 0 before it
	text   int64  // bytes of the (unpacked) file that were passed
	long   []byte // holds a line that is longer than r's buffer
}

// openSource opens a file, "-" for standard input; the caller closes it.
func openSource(ctx context.Context, path string, stdin io.Reader) (*source, func(), error) {
	if path == "-" {
		if stdin == nil {
			stdin = os.Stdin
		}
		_, task := progress.Begin(ctx, progress.Work{Name: "reading standard input",
			Unit: progress.Bytes})
		s, err := newSource(ctx, "standard input", reading{ctx, stdin, true, task}, defaultLimits)
		if err != nil {
			task.End()
			return nil, nil, err
		}
		return s, func() { s.close(); task.End() }, nil
	}
	f, err := openFile(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, &missingFile{path, fileerr.Cause(err)}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: cannot open the data file: %w", path, fileerr.Cause(err))
	}
	var task *progress.Task
	s, err := func() (*source, error) {
		info, err := f.Stat()
		if err != nil {
			return nil, fmt.Errorf("%s: cannot open the data file: %w", path, fileerr.Cause(err))
		}
		if info.IsDir() {
			return nil, fmt.Errorf("%s: is a directory, wanted a data file", path)
		}
		of := progress.Work{Name: "reading " + path, Unit: progress.Bytes}
		if info.Mode().IsRegular() {
			of.Total = info.Size()
		}
		_, task = progress.Begin(ctx, of)
		s, err := newSource(ctx, path, reading{ctx, f, !info.Mode().IsRegular(), task}, defaultLimits)
		if err == nil && s.packed == "" && !s.utf16 && info.Mode().IsRegular() {
			s.file, s.size, s.task = f, info.Size(), task
		}
		if err == nil && info.Mode().IsRegular() {
			s.same = func() error { return unchanged(f, info) }
		}
		return s, err
	}()
	if err != nil {
		task.End()
		f.Close()
		return nil, nil, err
	}
	// Nothing was written, so closing cannot lose anything.
	return s, func() { s.close(); f.Close(); task.End() }, nil
}

// unchanged returns an error if the open file was written to since.
func unchanged(f *os.File, was fs.FileInfo) error {
	is, err := f.Stat()
	if err != nil {
		return fileerr.Cause(err)
	}
	if is.Size() != was.Size() || !is.ModTime().Equal(was.ModTime()) {
		return fmt.Errorf("the file changed while it was read: found %d bytes of %v, wanted %d of %v as "+
			"before; read it when it is whole", is.Size(), is.ModTime().Format(time.StampMicro), was.Size(),
			was.ModTime().Format(time.StampMicro))
	}
	return nil
}

// finished is err, or what is wrong with the file that was read.
func (s *source) finished(err error) error {
	if s.same == nil {
		return err
	}
	if changed := s.same(); changed != nil {
		return fmt.Errorf("%s: %w", s.path, changed)
	}
	return err
}

// newSource recognises a packed file and byte order marks by first bytes; UTF-16 becomes UTF-8.
// path is for errors.
func newSource(ctx context.Context, path string, r io.Reader, l limits) (*source, error) {
	size := l.buffer
	if l.length > 0 {
		size = min(size, l.length+1) // a byte more, where the end is found
	}
	s := &source{ctx: ctx, path: path, limits: l, r: bufio.NewReaderSize(r, size)}
	magic, _ := s.r.Peek(4)
	if p := packing.Of(magic); p != nil {
		if s.packed = p.Name; p.Reader == nil {
			return nil, s.errorf("%w", p.Missing())
		}
		z, err := p.Reader(s.r, l.window)
		if err != nil {
			s.line = 1
			return nil, s.readFault(err)
		}
		s.unpack, s.r = z, bufio.NewReaderSize(z, l.buffer)
	}
	if mark, _ := s.r.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		s.mark = len(mark)
		if _, err := s.r.Discard(len(mark)); err != nil {
			return nil, s.readFault(err)
		}
	}
	if mark, _ := s.r.Peek(2); utf16Order(mark) != nil {
		u := &utf16Reader{r: s.r, order: utf16Order(mark), at: 2}
		if _, err := s.r.Discard(len(mark)); err != nil {
			return nil, s.readFault(err)
		}
		s.r, s.utf16 = bufio.NewReaderSize(u, l.buffer), true
	}
	return s, nil
}

// close gives back what unpacking holds.
func (s *source) close() {
	if s.unpack != nil {
		s.unpack.Close() // of a reader, after reading: nothing to lose
	}
}

// peek returns up to n bytes of the beginning without moving.
func (s *source) peek(n int) []byte {
	text, _ := s.r.Peek(n)
	return text
}

// next returns the next line without its end, valid until the next call; io.EOF after the last.
func (s *source) next() ([]byte, error) {
	line, err := s.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		s.long = s.long[:0]
		for err == bufio.ErrBufferFull && len(s.long) <= s.limits.line {
			s.long = append(s.long, line...)
			line, err = s.r.ReadSlice('\n')
		}
		s.long = append(s.long, line...)
		line = s.long
	}
	if err == io.EOF && len(line) == 0 {
		return nil, io.EOF
	}
	s.line++
	s.text += int64(len(line))
	if len(line) > s.limits.line {
		return nil, s.errorf("found a line of more than %d bytes, wanted one example per line",
			s.limits.line)
	}
	// Of a long line each second byte may begin a field, with a number and a name.
	const long, field = 1 << 24, 128
	if len(line) > long {
		if err := memory.Check(memory.Product(len(line)/2, field),
			fmt.Sprintf("a line of %d bytes", len(line))); err != nil {
			return nil, s.errorf("%w", err)
		}
	}
	if err != nil && err != io.EOF {
		return nil, s.readFault(err)
	}
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line, nil
}

// Read gives bytes; its errors, io.EOF aside, are worded.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.text += int64(n)
	if err != nil && err != io.EOF {
		err = s.readFault(err)
	}
	return n, err
}

// readFault words an error of the file or of what it is packed with.
func (s *source) readFault(err error) error {
	here := "in this line"
	if s.line == 0 {
		here = fmt.Sprintf("after %d bytes", s.text)
	}
	var file *fs.PathError
	switch {
	case s.packed == "" || s.utf16 || errors.As(err, &file):
		return s.errorf("cannot read: %w", err)
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return s.errorf("the %s data are cut short %s (%w); the file is not whole, fetch it again",
			s.packed, here, err)
	}
	return s.errorf("the %s data are corrupt at or before this %s (%w); fetch the file again",
		s.packed, map[bool]string{true: "place", false: "line"}[s.line == 0], err)
}

// errorf returns an error that begins with file and line.
func (s *source) errorf(format string, args ...any) error {
	return s.errorAt(s.line, 0, format, args...)
}

// errorfAt is errorf with the byte in the line, from 0.
func (s *source) errorfAt(at int, format string, args ...any) error {
	return s.errorAt(s.line, at+1, format, args...)
}

// errorAt returns an error that begins with file, line and column, unless 0.
func (s *source) errorAt(line, column int, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	switch {
	case line == 0:
		return fmt.Errorf("%s: %w", s.path, err)
	case column == 0:
		return fmt.Errorf("%s:%d: %w", s.path, line, err)
	}
	return fmt.Errorf("%s:%d:%d: %w", s.path, line, column, err)
}

// wrap puts the path before an error, unless reading failed and it is there.
func (s *source) wrap(err error) error {
	if strings.HasPrefix(err.Error(), s.path+":") {
		return err
	}
	return s.errorf("%w", err)
}

// passed returns how many bytes of the file the lines up to the current one have.
func (s *source) passed() int64 { return s.text + int64(s.mark) }

// whole gives the file for reading at any place: itself, or a copy in memory.
func (s *source) whole() (io.ReaderAt, int64, error) {
	if s.file != nil {
		info, err := s.file.Stat()
		if err != nil {
			return nil, 0, s.errorf("cannot read: %w", fileerr.Cause(err))
		}
		s.text = info.Size()
		return readingAt{s.ctx, s.file, s.task}, info.Size(), nil
	}
	var b bytes.Buffer
	// A third: while the buffer grows, the old one and one of twice its size are held.
	most := memory.Available() / 3
	if _, err := io.Copy(&b, io.LimitReader(s, min(s.limits.whole, most)+1)); err != nil {
		return nil, 0, err
	}
	if int64(b.Len()) > most {
		return nil, 0, s.errorf("an unpacked copy of more than %d bytes %w: it would take more than a "+
			"third of what is left; give an unpacked file", most, memory.ErrBudget)
	}
	if int64(b.Len()) > s.limits.whole {
		return nil, 0, s.errorf("found more than %d bytes of a format that must be read at any place, "+
			"wanted an unpacked file instead of a packed one or a pipe", s.limits.whole)
	}
	return bytes.NewReader(b.Bytes()), int64(b.Len()), nil
}
