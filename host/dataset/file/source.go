package file

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/osfile"
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
}

var defaultLimits = limits{buffer: 1 << 20, line: 1 << 28, dense: 1 << 30, perByte: 512,
	whole: 1 << 32, window: 1 << 28, rows: math.MaxInt32, columns: math.MaxInt32}

// source gives the bytes or lines of a file, unpacked, and knows their numbers.
type source struct {
	ctx    context.Context // of reading, which ends with it
	path   string
	limits limits
	r      *bufio.Reader
	packed string   // the name of a packing, or ""
	size   int64    // of file
	file   *os.File // the file if r gives its bytes as they are, so that any place can be read
	in     *input   // where it comes from, and can be read again; nil of a part of a file
	task   *progress.Task
	unpack io.Closer
	end    byte   // of a line; 0 for LF
	mark   int    // bytes of the byte order mark
	line   int    // number of the line that next returned last, from 1; 0 before it; a sheet's row
	text   int64  // bytes of the (unpacked) file that were passed
	long   []byte // holds a line that is longer than r's buffer
	// coding is of a text that is not UTF-8.
	coding encoding.Encoding
	sheet  *sheet // that the text is of; nil for none
	shown  int    // lines of it that were read
	keeps  bool   // lines are kept as they are
	kept   []byte // since it was emptied
	last   int    // where the last line begins in kept
}

// finished is err, or what is wrong with the file that was read.
func (s *source) finished(err error) error {
	if s.in == nil {
		return err
	}
	if changed := s.in.unchanged(); changed != nil {
		return changed
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
	if p := packingOf(magic); p != nil {
		s.packed = p.name
		z, err := p.unpack(s.r, l.window)
		if err != nil {
			s.line = 1
			return nil, s.readFault(err)
		}
		s.unpack, s.r = z, bufio.NewReaderSize(unpacking{z, p.name}, l.buffer)
	}
	if head, _ := s.r.Peek(64); isSheet(head) {
		return s, s.openSheet()
	} else if bytes.HasPrefix(head, []byte("\xd0\xcf\x11\xe0")) {
		return nil, fmt.Errorf("%s: found an Excel file of before 2007 or with a password, wanted .xlsx "+
			"without one; save it so, or as CSV", path)
	}
	if mark, _ := s.r.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		s.mark = len(mark)
		if _, err := s.r.Discard(len(mark)); err != nil {
			return nil, s.readFault(err)
		}
	}
	switch mark, _ := s.r.Peek(2); string(mark) {
	case "\xfe\xff":
		s.coding = unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	case "\xff\xfe":
		s.coding = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	}
	if s.coding != nil {
		s.r = bufio.NewReaderSize(&decoding{r: s.coding.NewDecoder().Reader(s.r)}, l.buffer)
	}
	return s, nil
}

// encode has w write text in the encoding of s, behind the mark of s. What w.w becomes is closed at
// the end if it is an io.Closer.
func (s *source) encode(w *lineWriter) error {
	_, err := io.WriteString(w.w, "\ufeff"[:s.mark])
	if s.coding != nil {
		w.w = transform.NewWriter(w.w, s.coding.NewEncoder())
	}
	return err
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
	end := cmp.Or(s.end, '\n')
	line, err := s.r.ReadSlice(end)
	if err == bufio.ErrBufferFull {
		s.long = s.long[:0]
		for err == bufio.ErrBufferFull && len(s.long) <= s.limits.line {
			s.long = append(s.long, line...)
			line, err = s.r.ReadSlice(end)
		}
		s.long = append(s.long, line...)
		line = s.long
	}
	if err == io.EOF && len(line) == 0 {
		return nil, io.EOF
	}
	s.count()
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
	if s.keeps {
		s.last, s.kept = len(s.kept), append(s.kept, line...)
	}
	if n := len(line); n > 0 && line[n-1] == end {
		line = line[:n-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line, nil
}

// count counts the line that was read.
func (s *source) count() {
	if s.sheet == nil {
		s.line++
		return
	}
	s.line = s.sheet.rows[s.shown]
	s.shown++
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
	case s.packed == "" || s.coding != nil || errors.As(err, &file):
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

// errorAt returns an error at a line and column of the file, unless 0; a sheet has rows alone.
func (s *source) errorAt(line, column int, format string, args ...any) error {
	if s.sheet != nil {
		column = 0
	}
	return &placeError{s.path, line, column, fmt.Errorf(format, args...)}
}

// placeError is an error at a place of a file.
type placeError struct {
	path         string
	line, column int // from 1; 0 if unknown
	err          error
}

func (e *placeError) Error() string {
	switch {
	case e.line == 0:
		return fmt.Sprintf("%s: %v", e.path, e.err)
	case e.column == 0:
		return fmt.Sprintf("%s:%d: %v", e.path, e.line, e.err)
	}
	return fmt.Sprintf("%s:%d:%d: %v", e.path, e.line, e.column, e.err)
}

func (e *placeError) Unwrap() error { return e.err }

// placed returns err with its place in the file, unless it has one.
func (s *source) placed(err error) error {
	if isPlaced(err) {
		return err
	}
	return s.errorf("%w", err)
}

func isPlaced(err error) bool {
	_, ok := errors.AsType[*placeError](err)
	return ok
}

// passed returns how many bytes of the file the lines up to the current one have.
func (s *source) passed() int64 { return s.text + int64(s.mark) }

// whole gives the file for reading at any place: itself, or a copy in memory.
func (s *source) whole() (io.ReaderAt, int64, error) {
	if s.file != nil {
		info, err := s.file.Stat()
		if err != nil {
			return nil, 0, s.errorf("cannot read: %w", osfile.Cause(err))
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

// cancelled returns err, or what to say instead of whatever a reader made of ctx's end.
func cancelled(ctx context.Context, path string, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("%s: reading was cancelled: %w", path, ctx.Err())
}

// openFile is os.Open until ctx ends: it waits for the writer of a named pipe.
func openFile(ctx context.Context, path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		return os.Open(path)
	}
	return waiting(ctx, func() (*os.File, error) { return os.Open(path) })
}

// waiting returns what do returns, or ctx's error; do is left behind when ctx ends.
func waiting[T any](ctx context.Context, do func() (T, error)) (value T, err error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := do()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return value, ctx.Err()
	}
}

// reading gives the bytes of r until ctx ends.
type reading struct {
	ctx   context.Context
	r     io.Reader
	waits bool // r may wait without end, as a pipe does
	task  *progress.Task
}

// Read is one Read of r.
func (r reading) Read(p []byte) (n int, err error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	if r.waits && r.ctx.Done() != nil {
		n, err = waiting(r.ctx, func() (int, error) { return r.r.Read(p) })
	} else {
		n, err = r.r.Read(p)
	}
	r.task.Add(int64(n))
	return n, err
}

// readingAt is reading for files that are read at any place.
type readingAt struct {
	ctx  context.Context
	r    io.ReaderAt
	task *progress.Task
}

func (r readingAt) ReadAt(p []byte, at int64) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.r.ReadAt(p, at)
	r.task.Add(int64(n))
	return n, err
}

// missingFile is the error of a data file that does not exist.
type missingFile struct {
	path  string
	cause error
}

func (e *missingFile) Error() string { return e.path + ": no such data file; check the path" }

func (e *missingFile) Unwrap() error { return e.cause }

// decoding gives a text that was UTF-16 and became UTF-8. The library replaces half of a character,
// which is an error here.
type decoding struct {
	r    io.Reader
	last []byte // two bytes at most
	err  error  // also of later reads
}

func (d *decoding) Read(p []byte) (int, error) {
	if d.err != nil {
		return 0, d.err
	}
	n, err := d.r.Read(p)
	half := []byte(string(utf8.RuneError))
	if bytes.Contains(p[:n], half) || bytes.Contains(append(d.last, p[:min(n, len(half))]...), half) {
		d.err = errors.New("found half of a character of UTF-16, or U+FFFD in its place, wanted whole " +
			"ones; the file is damaged or cut short, fetch it again")
		return 0, d.err
	}
	tail := slices.Concat(d.last, p[max(0, n-len(half)+1):n])
	d.last = tail[max(0, len(tail)-len(half)+1):]
	return n, err
}

// checkText refuses a web page, as servers send it in place of a file, a text that is UTF-16 and
// does not say so, whose every second byte is 0, and what is no text at all.
func checkText(s *source) error {
	head := s.peek(64)
	start := bytes.ToLower(bytes.TrimSpace(head))
	if bytes.HasPrefix(start, []byte("<!doctype html")) || bytes.HasPrefix(start, []byte("<html")) {
		return s.errorf("found a web page, wanted a table: the download may have failed")
	}
	even := head[:len(head)/2*2]
	for first, name := range []string{"UTF-16BE", "UTF-16LE"} {
		zeros := 0
		for i := first; i < len(even); i += 2 {
			if even[i] == 0 && even[i^1] != 0 {
				zeros++
			}
		}
		if len(even) >= 8 && 4*zeros > len(even) { // more than half of the characters
			return s.errorf("found a text of %s without the mark that should begin it, wanted UTF-8; "+
				"convert it (iconv -f %s -t UTF-8)", name, name)
		}
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return s.errorf("found bytes of value 0 at the beginning, wanted text")
	}
	return nil
}

// lines has s read a text whose lines end with CR alone.
func (s *source) lines() {
	head := s.peek(sniffed)
	if bytes.IndexByte(head, '\r') >= 0 && bytes.IndexByte(head, '\n') < 0 {
		s.end = '\r'
	}
}

// latin has s read a text that is not UTF-8 as Windows-1252, which has all of Latin-1, and reports
// whether it is one.
func (s *source) latin() (is bool) {
	head := s.peek(sniffed)
	for at := 0; at < len(head); {
		c, size := utf8.DecodeRune(head[at:])
		if c == utf8.RuneError && size == 1 {
			if !utf8.FullRune(head[at:]) { // the buffer ends in it
				return false
			}
			text := charmap.Windows1252.NewDecoder().Reader(s.r)
			s.r, s.file, s.coding = bufio.NewReaderSize(text, s.limits.buffer), nil, charmap.Windows1252
			return true
		}
		at += size
	}
	return false
}
