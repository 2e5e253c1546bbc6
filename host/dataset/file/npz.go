package file

import (
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/npyfile"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

func isZip(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06"))
}

// npz gives the arrays of an .npz file.
type npz struct {
	src    *source
	names  []string // without .npy, in the order of the file
	files  map[string]*zip.File
	opened map[string]bool // the arrays that were looked at, as check does
}

// enterNPZ reads arrays X and y of an .npz, or a sparse matrix of SciPy.
func enterNPZ(c *collector) error {
	z, err := openNPZ(c.src)
	if err != nil {
		return err
	}
	if err = z.enter(c); err == nil {
		return nil
	}
	// What is damaged reads as anything, and the check sum comes last.
	if damage := z.check(); damage != nil {
		return damage
	}
	return err
}

// enter reads each array to its end, where its check sum is compared.
func (z *npz) enter(c *collector) error {
	sparse := !slices.ContainsFunc([]string{"indptr", "indices", "data", "shape"},
		func(name string) bool { return z.files[name] == nil })
	about, err := z.about(c)
	switch {
	case err != nil:
		return err
	case c.o.NoLabels:
	case about != nil:
		if c.given, err = z.readClasses(about); c.o.Classes == nil {
			c.o.Classes = about.Classes
		}
	case c.given == nil:
		c.given, err = z.readLabels(c.o, sparse)
	}
	if err == nil && about != nil {
		c.o.Features, err = about.wanted(z.src, c.o)
	}
	if err == nil {
		err = c.begin()
	}
	if err != nil {
		return err
	}
	if about != nil {
		if err := about.fits(z.src, c.o.Encoding); err != nil {
			return err
		}
		if about.Encoding != nil {
			c.o.Encoding = nil // whose features these are
		}
		c.prepared = about.Preparation
		c.describe = func(d *dataset.Dataset) { about.enter(d, c.asked) }
	}
	if sparse {
		return z.enterSciPy(c)
	}
	return z.enterMatrix(c)
}

func openNPZ(s *source) (*npz, error) {
	r, size, err := s.whole()
	if err != nil {
		return nil, err
	}
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, s.errorf("found no whole zip archive (%w), wanted an .npz file; if it was cut "+
			"short, fetch it again", err)
	}
	z := &npz{src: s, files: make(map[string]*zip.File, len(archive.File)), opened: map[string]bool{}}
	for _, f := range archive.File {
		name := strings.TrimSuffix(f.Name, ".npy")
		if z.files[name] != nil {
			return nil, s.errorf("found two arrays named %s, wanted each once", quote.Text(name))
		}
		z.names, z.files[name] = append(z.names, name), f
	}
	return z, nil
}

// choose returns the first of these arrays that is there.
func (z *npz) choose(what, first, second string) (string, error) {
	for _, name := range []string{first, second} {
		if z.files[name] != nil {
			return name, nil
		}
	}
	return "", z.src.errorf("found the arrays %s, wanted %s named %s or %s", quote.List(z.names), what,
		quote.Text(first), quote.Text(second))
}

// open returns the header of an array and a reader of its elements.
func (z *npz) open(name string) (npyfile.Array, *member, error) {
	m, err := z.unpack(name)
	if err != nil {
		return npyfile.Array{}, nil, err
	}
	h, err := npyfile.ReadHeader(m)
	if err != nil {
		m.Close()
		return npyfile.Array{}, nil, m.errorf("%w", err)
	}
	return h, m, nil
}

// unpack returns a reader of all bytes of an array.
func (z *npz) unpack(name string) (*member, error) {
	z.opened[name] = true
	m := &member{src: z.src, name: name, file: z.files[name]}
	f, err := m.file.Open()
	if err != nil {
		return nil, m.errorf("%w", err)
	}
	m.packed = f
	m.Reader = bufio.NewReaderSize(unpacker{m}, 1<<16)
	return m, nil
}

// check reads the opened arrays again and returns the error of a damaged one.
func (z *npz) check() error {
	for _, name := range z.names {
		if !z.opened[name] {
			continue
		}
		m, err := z.unpack(name)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, m)
		m.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// member reads an array; its errors, io.EOF aside, are worded.
type member struct {
	*bufio.Reader
	src    *source
	name   string
	file   *zip.File
	packed io.ReadCloser
	passed int64 // bytes that have left packed
}

func (m *member) Close() error { return m.packed.Close() }

// stored reports whether the archive says that the bytes of m lie in a file, not packed.
func (m *member) stored() bool {
	f := m.file
	return m.src.file != nil && f.Method == zip.Store && f.CompressedSize64 == f.UncompressedSize64 &&
		f.UncompressedSize64 <= uint64(m.src.size)
}

// head returns how many bytes of m were read.
func (m *member) head() int64 { return m.passed - int64(m.Buffered()) }

func (m *member) errorf(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if isPlaced(err) { // reading the file failed
		return err
	}
	return m.src.errorf("array %s: %w", quote.Text(m.name), err)
}

// end returns an error unless all was read and is what was written.
func (m *member) end() error { return atEnd(m, m.errorf) }

// unpacker is below the buffer of a member.
type unpacker struct{ m *member }

func (u unpacker) Read(p []byte) (int, error) {
	n, err := u.m.packed.Read(p)
	u.m.src.text += int64(n)
	u.m.passed += int64(n)
	if err != nil && err != io.EOF {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("it is cut short")
		}
		err = u.m.errorf("cannot unpack it: %w; fetch the file again", err)
	}
	return n, err
}

// readLabels reads the array of labels.
func (z *npz) readLabels(o Options, sparse bool) (*labelList, error) {
	name, err := z.choose("the labels", "y", "Y")
	if err != nil {
		if sparse {
			return nil, z.src.errorf("found a sparse matrix of SciPy without labels, wanted a second file " +
				"with them (or an array y beside it)")
		}
		return nil, err
	}
	h, r, err := z.open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return readLabelArray(z.src, r, fmt.Sprintf("%s: array %s", z.src.path, quote.Text(name)), h, o)
}

// enterMatrix enters the examples of the array X.
func (z *npz) enterMatrix(c *collector) error {
	name, err := z.choose("the examples", "X", "x")
	if err != nil {
		only, found := z.onlyMatrix()
		if !found {
			return err
		}
		name = only
	}
	h, r, err := z.open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	return enterMatrix(c, r, h)
}

// onlyMatrix returns the one array of two dimensions; very many are not looked at.
func (z *npz) onlyMatrix() (name string, found bool) {
	const most = 1000
	if len(z.names) > most {
		return "", false
	}
	for _, other := range z.names {
		h, r, err := z.open(other)
		if err != nil {
			continue
		}
		r.Close()
		if len(h.Shape) == 2 {
			if found {
				return "", false
			}
			name, found = other, true
		}
	}
	return name, found
}
