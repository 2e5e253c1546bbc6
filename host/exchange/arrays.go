package exchange

import (
	"archive/zip"
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// mostText is the longest name of a class or feature that is read, in bytes.
const mostText = 1 << 16

// arrays are the arrays of an .npz file, by name.
type arrays map[string]*zip.File

func openArrays(r io.ReaderAt, size int64) (arrays, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("found no whole zip archive (%w), wanted an .npz file that numpy.savez "+
			"writes", err)
	}
	a := arrays{}
	for _, f := range z.File {
		name := strings.TrimSuffix(f.Name, ".npy")
		if a.has(name) {
			return nil, fmt.Errorf("found two arrays named %q, wanted each once", name)
		}
		a[name] = f
	}
	return a, nil
}

func (a arrays) has(name string) bool { return a[name] != nil }

// only refuses arrays of other names.
func (a arrays) only(names ...string) error {
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if !slices.Contains(names, name) {
			return fmt.Errorf("found an array %q, wanted %s alone", name, strings.Join(names, ", "))
		}
	}
	return nil
}

// read hands the header of an array and all bytes of its elements, in C order, to use.
func (a arrays) read(name string, use func(h npyfile.Array, raw []byte) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("array %s: %w", name, err)
		}
	}()
	if !a.has(name) {
		return fmt.Errorf("found none, wanted it beside %s: save it with numpy.savez",
			strings.Join(slices.Sorted(maps.Keys(a)), ", "))
	}
	f, err := a[name].Open()
	if err != nil {
		return err
	}
	defer f.Close() // only a reader: nothing can fail that matters
	r := bufio.NewReader(f)
	h, err := npyfile.ReadHeader(r)
	if err != nil {
		return err
	}
	count := 1
	for _, n := range h.Shape {
		count *= n
	}
	if h.Fortran && len(h.Shape) > 1 {
		return errors.New("found Fortran order, wanted C order: save numpy.ascontiguousarray of it")
	}
	if held := a[name].UncompressedSize64; h.Type.Size < 1 ||
		uint64(count) > held/uint64(h.Type.Size) {
		return fmt.Errorf("found %d bytes, wanted %d elements of %d, as the header says", held, count,
			h.Type.Size)
	}
	// A packed member may unpack to a thousand times the size of the file.
	if err := memory.Check(memory.Product(count, h.Type.Size+8), "array "+name); err != nil {
		return err
	}
	raw := make([]byte, count*h.Type.Size)
	if _, err := io.ReadFull(r, raw); err != nil {
		return fmt.Errorf("found fewer bytes than the header says: %w", err)
	}
	switch n, err := io.Copy(io.Discard, r); { // where it ends the check sum is compared
	case err != nil:
		return err
	case n > 0:
		return fmt.Errorf("found %d more bytes than the header says", n)
	}
	return use(h, raw)
}

// numbers returns an array of numbers, row-major, and its shape.
func (a arrays) numbers(name string) (values []float64, shape []int, err error) {
	err = a.read(name, func(h npyfile.Array, raw []byte) error {
		decode := npyfile.Decoder(h.Type, func(v float64) float64 { return v })
		if decode == nil {
			return fmt.Errorf("found elements of type %s, wanted numbers", h.Type)
		}
		values, shape = make([]float64, len(raw)/h.Type.Size), h.Shape
		decode(values, raw)
		return nil
	})
	return values, shape, err
}

// texts returns a list of names: texts, or numbers as they are written.
func (a arrays) texts(name string) (list []string, err error) {
	err = a.read(name, func(h npyfile.Array, raw []byte) error {
		if len(h.Shape) != 1 {
			return fmt.Errorf("found shape %s, wanted a list", npyfile.Tuple(h.Shape))
		}
		var floats [1]float64
		decode := npyfile.Decoder(h.Type, func(v float64) float64 { return v })
		for i := range h.Shape[0] {
			b := raw[i*h.Type.Size : (i+1)*h.Type.Size]
			text := ""
			switch v, whole := int64(0), false; {
			case h.Type.Kind == 'U':
				text = utf32(h.Type, b)
			case h.Type.Kind == 'S':
				text = strings.TrimRight(string(b), "\x00")
			case h.Type.Kind == 'b': // as pandas writes them
				text = []string{"False", "True"}[min(b[0], 1)]
			case h.Type.IsInteger():
				if v, whole = h.Type.Integer(b); !whole {
					return fmt.Errorf("found a number above 2⁶³ at place %d, wanted less", i)
				}
				text = strconv.FormatInt(v, 10)
			case decode != nil:
				decode(floats[:], b)
				text = strconv.FormatFloat(floats[0], 'g', -1, 64)
			default:
				return fmt.Errorf("found elements of type %s, wanted texts or numbers: save it with "+
					".astype(str)", h.Type)
			}
			if !utf8.ValidString(text) || len(text) > mostText || strings.ContainsFunc(text, isControl) {
				return fmt.Errorf("found %.40q at place %d, wanted a name in UTF-8 without control characters",
					text, i)
			}
			list = append(list, text)
		}
		return nil
	})
	return list, err
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// utf32 returns a text that is padded with zeros. What is no character becomes one that is not
// valid.
func utf32(t npyfile.Type, b []byte) string {
	var text []byte
	for ; len(b) >= 4; b = b[4:] {
		c := t.Order().Uint32(b)
		if c > utf8.MaxRune || !utf8.ValidRune(rune(c)) {
			return "\xff"
		}
		text = utf8.AppendRune(text, rune(c))
	}
	return strings.TrimRight(string(text), "\x00")
}
