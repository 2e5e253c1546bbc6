package npyfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxHeader is the longest header that is read, in bytes, as in NumPy.
const MaxHeader = 10000

// Array is what an .npy file says before its elements.
type Array struct {
	Size    int    // bytes before the first element
	Descr   string // the type of an element in NumPy's words, such as "<f4"
	Type    Type   // the same, read
	Fortran bool   // the first index runs fastest
	Shape   []int  // no size for a single element
}

// ReadHeader reads up to the first element. With an error comes what was read until
// then. Sizes are not compared with what follows; their product fits in an int.
func ReadHeader(r io.Reader) (Array, error) {
	var a Array
	start := make([]byte, len(Magic)+4, len(Magic)+6)
	n, err := io.ReadFull(r, start)
	if known := start[:min(n, len(Magic))]; !strings.HasPrefix(Magic, string(known)) {
		return a, fmt.Errorf(`found no NumPy array, wanted a file that begins with \x93NUMPY`)
	}
	if err != nil {
		return a, cut(err)
	}
	switch start[6] {
	case 1:
		n = int(binary.LittleEndian.Uint16(start[8:]))
	case 2, 3:
		start = start[:cap(start)]
		if _, err := io.ReadFull(r, start[len(Magic)+4:]); err != nil {
			return a, cut(err)
		}
		n = int(binary.LittleEndian.Uint32(start[8:]))
	default:
		return a, fmt.Errorf("found version %d of the .npy format, wanted 1 to 3", start[6])
	}
	a.Size = len(start) + n
	if n > MaxHeader {
		return a, fmt.Errorf("found an .npy header of %d bytes, wanted at most %d (a table of named "+
			"columns? save them as one matrix)", n, MaxHeader)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return a, cut(err)
	}
	return a, a.parse(string(text))
}

func cut(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("found the end of the file within the .npy header; the file is cut short, " +
			"fetch it again")
	}
	return err
}

// entry cuts a key and its value, with the comma after it, off the rest of a dictionary. The value
// is a text, a word, or a tuple, with Python 2's L.
func entry(rest string) (key, value, left string, ok bool) {
	const blanks, quotes = " \t\n\r\f", `'"`
	rest = strings.TrimLeft(rest, blanks)
	for _, key = range []string{"descr", "fortran_order", "shape"} {
		if n := len(key); len(rest) > n+1 && rest[1:n+1] == key &&
			strings.IndexByte(quotes, rest[0]) >= 0 && strings.IndexByte(quotes, rest[n+1]) >= 0 {
			rest, ok = strings.CutPrefix(strings.TrimLeft(rest[n+2:], blanks), ":")
			break
		}
	}
	if rest = strings.TrimLeft(rest, blanks); !ok || rest == "" {
		return "", "", "", false
	}
	end := 0
	switch c := rest[0]; c {
	case '\'', '"':
		if end = strings.IndexByte(rest[1:], c) + 2; end == 1 {
			end = 0
		}
	case '(':
		end = strings.IndexByte(rest, ')') + 1
		if strings.Trim(rest[1:max(1, end-1)], "-0123456789L, ") != "" {
			return "", "", "", false
		}
	default:
		end = len(rest) - len(strings.TrimLeftFunc(rest, func(r rune) bool {
			return r == '_' || r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r))
		}))
	}
	if end == 0 {
		return "", "", "", false
	}
	value, left = rest[:end], strings.TrimLeft(rest[end:], blanks)
	left, comma := strings.CutPrefix(left, ",")
	return key, value, left, comma || left == ""
}

// parse reads a dictionary of three keys, each once, in any order.
func (a *Array) parse(text string) error {
	bad := fmt.Errorf("found the .npy header %.100q, wanted descr, fortran_order and shape of a "+
		"plain array", strings.TrimSpace(text))
	rest, opened := strings.CutPrefix(strings.TrimSpace(text), "{")
	rest, closed := strings.CutSuffix(rest, "}")
	if !opened || !closed {
		return bad
	}
	values := make(map[string]string, 3)
	for range 3 {
		key, value, left, ok := entry(rest)
		if !ok || values[key] != "" {
			return bad
		}
		values[key], rest = value, left
	}
	descr, order, shape := values["descr"], values["fortran_order"], values["shape"]
	switch {
	case strings.TrimSpace(rest) != "" || !strings.ContainsAny(descr[:1], `'"`) || shape[0] != '(':
		return bad
	case order != "True" && order != "False":
		return fmt.Errorf("found the order %.100q in the .npy header, wanted True or False as "+
			"fortran_order", order)
	}
	a.Descr, a.Fortran = descr[1:len(descr)-1], order == "True"
	if err := a.parseShape(shape); err != nil {
		return err
	}
	var err error
	a.Type, err = parseType(a.Descr)
	return err
}

// parseShape reads a tuple such as (3, 5) or (7,).
func (a *Array) parseShape(tuple string) error {
	sizes := strings.Split(strings.Trim(tuple, "()"), ",")
	if last := len(sizes) - 1; strings.TrimSpace(sizes[last]) == "" {
		sizes = sizes[:last]
	}
	total, negative, large := 1, false, false
	for _, size := range sizes {
		n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(size), "L"))
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return fmt.Errorf("found shape %.100s, wanted the sizes of an array", tuple)
		}
		a.Shape = append(a.Shape, n)
		negative = negative || n < 0
		if n > 0 && !large {
			large = err != nil || total > math.MaxInt/n
			total *= n
		}
	}
	switch {
	case negative:
		return fmt.Errorf("found shape %.100s, wanted no negative size", tuple)
	case large:
		return fmt.Errorf("found shape %.100s, which is beyond the address space", tuple)
	}
	return nil
}
