package model

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// The .npy format, as far as a model needs it: two dimensions, C order, little
// endian. npyio, which this project uses for matrices elsewhere, writes no
// two-dimensional float32 array, does not align the data, and panics on some
// damaged headers.
// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html

// maxNpyHeader bounds the text of a header that is read; numpy's own bound is
// 10,000, and a header of ours has 118 bytes.
const maxNpyHeader = 10000

var npyEntry = regexp.MustCompile(`^\s*'(descr|fortran_order|shape)'\s*:\s*('[^']*'|True|False|\([0-9, ]*\))\s*,?`)

// readNpyHeader reads the header of an array of dtype with two dimensions and
// returns its shape, having compared it with size, the bytes of the whole
// member. So whoever allocates rows·cols elements needs no more memory than the
// file has bytes. numpy says how to convert an array of another kind.
func readNpyHeader(r io.Reader, size uint64, dtype string, width int) (rows, cols int, err error) {
	start := make([]byte, len(npyfile.Magic)+4)
	if _, err := io.ReadFull(r, start); err != nil || string(start[:len(npyfile.Magic)]) != npyfile.Magic {
		return 0, 0, errors.New("found no .npy header, wanted an array that numpy.save writes")
	}
	if major, minor := start[6], start[7]; major != 1 || minor != 0 {
		return 0, 0, fmt.Errorf("found .npy version %d.%d, wanted 1.0", major, minor)
	}
	n := int(binary.LittleEndian.Uint16(start[8:]))
	if n > maxNpyHeader {
		return 0, 0, fmt.Errorf("found an .npy header of %d bytes, wanted at most %d", n, maxNpyHeader)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return 0, 0, fmt.Errorf("found %d bytes, wanted an .npy header of %d and data after it: the file is cut short", size, len(start)+n)
	}
	entries, err := parseNpyDict(string(text))
	if err != nil {
		return 0, 0, err
	}
	if got := strings.Trim(entries["descr"], "'"); got != dtype {
		return 0, 0, fmt.Errorf("found elements of type %q, wanted %q: convert the array with .astype(%q)", got, dtype, dtype)
	}
	if entries["fortran_order"] != "False" {
		return 0, 0, fmt.Errorf("found Fortran order, wanted C order: convert the array with numpy.ascontiguousarray")
	}
	rows, cols, ok := parseShape(entries["shape"])
	if !ok {
		return 0, 0, fmt.Errorf("found shape %s, wanted two positive dimensions", entries["shape"])
	}
	data := size - uint64(len(start)+n)
	if data%uint64(width) != 0 || data/uint64(width) > math.MaxInt || !isProduct(int(data/uint64(width)), rows, cols) {
		return 0, 0, fmt.Errorf("found %d bytes of data, wanted %d×%d of %d bytes each, as the .npy header says", data, rows, cols, width)
	}
	return rows, cols, nil
}

// parseNpyDict takes the Python dictionary of a header apart: its three keys, each
// once, in any order.
func parseNpyDict(text string) (map[string]string, error) {
	bad := fmt.Errorf("found the .npy header %.100q, wanted descr, fortran_order and shape", text)
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "{")
	if !ok {
		return nil, bad
	}
	entries := make(map[string]string, 3)
	for range 3 {
		m := npyEntry.FindStringSubmatch(rest)
		if m == nil || entries[m[1]] != "" {
			return nil, bad
		}
		entries[m[1]] = m[2]
		rest = rest[len(m[0]):]
	}
	if strings.TrimSpace(rest) != "}" {
		return nil, bad
	}
	return entries, nil
}

func parseShape(text string) (rows, cols int, ok bool) {
	first, second, ok := strings.Cut(strings.Trim(text, "()"), ",")
	if !ok {
		return 0, 0, false
	}
	rows, err1 := strconv.Atoi(strings.TrimSpace(first))
	cols, err2 := strconv.Atoi(strings.TrimSpace(second))
	return rows, cols, err1 == nil && err2 == nil && rows > 0 && cols > 0
}

// number is an element of the arrays here.
type number interface {
	float32 | float64 | int32 | int64
}

// writeNumbers writes v in little-endian order, a piece at a time.
func writeNumbers[T number](w io.Writer, v []T) error {
	const piece = 4096
	buf := make([]byte, 0, 8*min(piece, len(v)))
	for len(v) > 0 {
		n := min(piece, len(v))
		buf = buf[:0]
		for _, f := range v[:n] {
			switch f := any(f).(type) {
			case float32:
				buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(f))
			case float64:
				buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(f))
			case int32:
				buf = binary.LittleEndian.AppendUint32(buf, uint32(f))
			case int64:
				buf = binary.LittleEndian.AppendUint64(buf, uint64(f))
			}
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
		v = v[n:]
	}
	return nil
}

// readNumbers fills v with little-endian numbers of r.
func readNumbers[T number](r io.Reader, v []T) error {
	const piece = 4096
	width := binary.Size(T(0))
	buf := make([]byte, width*min(piece, len(v)))
	for len(v) > 0 {
		n := min(piece, len(v))
		if _, err := io.ReadFull(r, buf[:width*n]); err != nil {
			return err
		}
		for i := range n {
			switch p := any(&v[i]).(type) {
			case *float32:
				*p = math.Float32frombits(binary.LittleEndian.Uint32(buf[4*i:]))
			case *float64:
				*p = math.Float64frombits(binary.LittleEndian.Uint64(buf[8*i:]))
			case *int32:
				*p = int32(binary.LittleEndian.Uint32(buf[4*i:]))
			case *int64:
				*p = int64(binary.LittleEndian.Uint64(buf[8*i:]))
			}
		}
		v = v[n:]
	}
	return nil
}
