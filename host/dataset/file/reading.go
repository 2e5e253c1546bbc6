package file

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/uma-gpu/uma-gpu/host/progress"
)

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
	type result struct {
		f   *os.File
		err error
	}
	opened := make(chan result)
	go func() {
		f, err := os.Open(path)
		select {
		case opened <- result{f, err}:
		case <-ctx.Done():
			if err == nil {
				f.Close() // nothing was read
			}
		}
	}()
	select {
	case r := <-opened:
		return r.f, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// reading gives the bytes of r until ctx ends.
type reading struct {
	ctx   context.Context
	r     io.Reader
	waits bool // r may wait without end, as a pipe does
	task  *progress.Task
}

// Read is one Read of r; one that waits is left behind when ctx ends.
func (r reading) Read(p []byte) (n int, err error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	defer func() { r.task.Add(int64(n)) }()
	if !r.waits || r.ctx.Done() == nil {
		return r.r.Read(p)
	}
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	go func() {
		n, err := r.r.Read(p)
		done <- result{n, err}
	}()
	select {
	case d := <-done:
		return d.n, d.err
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	}
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

// writing writes to w until ctx ends, and looks at ctx every mebibyte.
type writing struct {
	ctx context.Context
	w   io.Writer
}

func (w writing) Write(p []byte) (n int, err error) {
	const most = 1 << 20
	for {
		if err := w.ctx.Err(); err != nil {
			return n, fmt.Errorf("writing was cancelled: %w", err)
		}
		part := p[n:min(n+most, len(p))]
		k, err := w.w.Write(part)
		if n += k; err != nil || n == len(p) {
			return n, err
		}
		if k < len(part) {
			return n, io.ErrShortWrite
		}
	}
}

// utf16Reader gives a text of UTF-16 as UTF-8. Half a character is an error, and not another one.
type utf16Reader struct {
	r     *bufio.Reader
	order binary.ByteOrder
	at    int64  // bytes read
	out   []byte // that the caller has not taken
	err   error  // that comes behind out
}

// utf16Order returns the byte order of a UTF-16 mark, nil if there is none.
func utf16Order(head []byte) binary.ByteOrder {
	if len(head) < 2 {
		return nil
	}
	switch binary.LittleEndian.Uint16(head) {
	case 0xfeff:
		return binary.LittleEndian
	case 0xfffe:
		return binary.BigEndian
	}
	return nil
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	for u.err == nil && len(u.out) < len(p) && len(u.out) < 1<<16 {
		var r rune
		if r, u.err = u.character(); u.err == nil {
			u.out = utf8.AppendRune(u.out, r)
		}
	}
	n := copy(p, u.out)
	if u.out = append(u.out[:0], u.out[n:]...); n > 0 {
		return n, nil
	}
	return 0, u.err
}

// character reads one.
func (u *utf16Reader) character() (rune, error) {
	c, err := u.unit()
	r := rune(c)
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	low, err := u.unit()
	if err != nil && err != io.EOF {
		return 0, err
	}
	if r = utf16.DecodeRune(r, rune(low)); err == io.EOF || r == utf8.RuneError {
		return 0, fmt.Errorf("found half of a character of UTF-16 before byte %d, wanted both; the file "+
			"is damaged", u.at)
	}
	return r, nil
}

// unit reads 16 bits.
func (u *utf16Reader) unit() (uint16, error) {
	var b [2]byte
	n, err := io.ReadFull(u.r, b[:])
	u.at += int64(n)
	if errors.Is(err, io.ErrUnexpectedEOF) && n == 1 {
		return 0, fmt.Errorf("found %d bytes of UTF-16, wanted an even number; the file is cut short, "+
			"fetch it again", u.at)
	}
	return u.order.Uint16(b[:]), err
}

// checkUTF16 refuses a text that is UTF-16 and does not say so: each second byte is 0.
func checkUTF16(s *source) error {
	head := s.peek(64)
	head = head[:len(head)/2*2]
	if len(head) < 8 {
		return nil
	}
	for first, name := range []string{"UTF-16BE", "UTF-16LE"} {
		zeros := 0
		for i := first; i < len(head); i += 2 {
			if head[i] == 0 && head[i^1] != 0 {
				zeros++
			}
		}
		if 4*zeros > len(head) { // more than half of the characters
			return s.errorf("found a text of %s without the mark that should begin it, wanted UTF-8; "+
				"convert it (iconv -f %s -t UTF-8)", name, name)
		}
	}
	return nil
}

// windows are the characters of Windows-1252 from 0x80 on; from 0xa0 on they are those of Unicode.
var windows = []rune("€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ")

// latin has s read a text that is not UTF-8 as Windows-1252, which has all of Latin-1, and b say
// so.
func (s *source) latin() (is bool) {
	head := s.peek(sniffed)
	for at := 0; at < len(head); {
		c, size := utf8.DecodeRune(head[at:])
		if c == utf8.RuneError && size == 1 {
			if !utf8.FullRune(head[at:]) { // the buffer ends in it
				return false
			}
			s.r, s.file = bufio.NewReaderSize(&latinReader{r: s.r}, s.limits.buffer), nil
			return true
		}
		at += size
	}
	return false
}

// latinReader gives a text of Windows-1252 as UTF-8.
type latinReader struct {
	r    io.Reader
	raw  [1 << 12]byte
	text []byte
}

func (l *latinReader) Read(p []byte) (int, error) {
	if len(l.text) == 0 {
		n, err := l.r.Read(l.raw[:])
		if n == 0 {
			return 0, err
		}
		for _, c := range l.raw[:n] {
			r := rune(c)
			if 0x80 <= c && c < 0xa0 {
				r = windows[c-0x80]
			}
			l.text = utf8.AppendRune(l.text, r)
		}
	}
	n := copy(p, l.text)
	l.text = l.text[n:]
	return n, nil
}
