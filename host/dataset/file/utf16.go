package file

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// utf16Reader gives a text of UTF-16 as UTF-8. Half a character is an error, and not another one.
type utf16Reader struct {
	r     *bufio.Reader
	order binary.ByteOrder
	at    int64  // bytes read
	out   []byte // that the caller has not taken
	err   error  // that comes behind out
}

// utf16Order returns the byte order of a text that begins with the mark of UTF-16, nil of any
// other.
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
