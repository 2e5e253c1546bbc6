package dataset

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/uma-gpu/uma-gpu/internal/fileerr"
)

// limits bound the memory that a small or damaged file can ask for.
type limits struct {
	// buffer is the number of bytes read at a time.
	buffer int
	// line is the largest number of bytes in one line (in CSV, one record).
	line int
	// dense and perByte: examples stored densely may take max(dense, perByte ·
	// bytes of text) bytes.
	dense, perByte int64
}

var defaultLimits = limits{buffer: 1 << 20, line: 1 << 28, dense: 1 << 30, perByte: 512}

// source gives the lines of a text, unpacked if it is gzip, and knows their
// numbers. All formats that are made of lines read from one.
type source struct {
	path   string
	limits limits
	r      *bufio.Reader
	gzip   bool
	line   int    // number of the line that next returned last, from 1
	text   int64  // bytes of (unpacked) text that next has passed
	long   []byte // holds a line that is longer than r's buffer
}

// openSource opens a file; the caller closes the io.Closer when done.
func openSource(path string) (*source, io.Closer, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s: no such data file; check the path: %w", path, fileerr.Cause(err))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: cannot open the data file: %w", path, fileerr.Cause(err))
	}
	s, err := func() (*source, error) {
		info, err := f.Stat()
		if err != nil {
			return nil, fmt.Errorf("%s: cannot open the data file: %w", path, fileerr.Cause(err))
		}
		if info.IsDir() {
			return nil, fmt.Errorf("%s: is a directory, wanted a data file", path)
		}
		return newSource(path, f, defaultLimits)
	}()
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return s, f, nil
}

// newSource recognises gzip by its first two bytes, whatever path says, and
// passes over a UTF-8 byte order mark. path is for errors and file name rules.
func newSource(path string, r io.Reader, l limits) (*source, error) {
	s := &source{path: path, limits: l, r: bufio.NewReaderSize(r, l.buffer)}
	if magic, _ := s.r.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		s.gzip = true
		z, err := gzip.NewReader(s.r)
		if err != nil {
			s.line = 1
			return nil, s.readFault(err)
		}
		s.r = bufio.NewReaderSize(z, l.buffer)
	}
	if mark, _ := s.r.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		if _, err := s.r.Discard(len(mark)); err != nil {
			return nil, s.readFault(err)
		}
	}
	return s, nil
}

// peek returns the beginning of the text, up to n bytes, and moves nothing. It
// gives no error: next will meet the same one.
func (s *source) peek(n int) []byte {
	text, _ := s.r.Peek(n)
	return text
}

// next returns the next line without its line end (LF or CRLF), io.EOF after
// the last. The line is valid until the next call.
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
		return nil, s.errorf("found a line of more than %d bytes, wanted one example per line", s.limits.line)
	}
	if err != nil && err != io.EOF {
		return nil, s.readFault(err)
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), nil
}

// readFault words an error of the file or of its gzip layer.
func (s *source) readFault(err error) error {
	var file *fs.PathError
	switch {
	case !s.gzip || errors.As(err, &file):
		return s.errorf("cannot read: %w", err)
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return s.errorf("the gzip data are cut short in this line (%w); the file is not whole, fetch it again", err)
	}
	return s.errorf("the gzip data are corrupt at or before this line (%w); fetch the file again", err)
}

// errorf returns an error that begins with the file and the line returned last.
func (s *source) errorf(format string, args ...any) error { return s.errorAt(s.line, format, args...) }

func (s *source) errorAt(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", s.path, line, fmt.Errorf(format, args...))
}
