package dataset

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

func isZip(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06"))
}

// npz gives the arrays of an .npz file.
type npz struct {
	src   *source
	names []string // without .npy, in the order of the file
	files []*zip.File
}

// readNPZ reads the arrays X and y (or of other names) of an .npz file, or a
// sparse matrix as scipy.sparse.save_npz writes it.
func readNPZ(s *source, o Options) (*Dataset, error) {
	if err := refuseColumns(s, o); err != nil {
		return nil, err
	}
	z, err := openNPZ(s)
	if err != nil {
		return nil, err
	}
	sparse := z.find("indptr") != nil && z.find("indices") != nil && z.find("data") != nil && z.find("shape") != nil
	if !o.NoLabels && o.given == nil {
		if o.given, err = z.readLabels(o, sparse); err != nil {
			return nil, err
		}
	}
	b, err := newBuilder(s, o)
	if err != nil {
		return nil, err
	}
	if sparse && o.XName == "" {
		err = z.readSciPy(b)
	} else {
		err = z.readMatrix(b)
	}
	if err != nil {
		return nil, err
	}
	return b.finish()
}

func openNPZ(s *source) (*npz, error) {
	r, size, err := s.whole()
	if err != nil {
		return nil, err
	}
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, s.errorf("found no whole zip archive (%w), wanted an .npz file; if it was cut short, fetch it again", err)
	}
	z := &npz{src: s}
	for _, f := range archive.File {
		name := strings.TrimSuffix(f.Name, ".npy")
		if z.find(name) != nil {
			return nil, s.errorf("found two arrays named %s, wanted each once", quote(name))
		}
		z.names, z.files = append(z.names, name), append(z.files, f)
	}
	return z, nil
}

// find returns the array of that name, nil if there is none.
func (z *npz) find(name string) *zip.File {
	for k, other := range z.names {
		if other == name {
			return z.files[k]
		}
	}
	return nil
}

// choose returns the name of an array: the one asked for, or the first that
// there is of the usual ones.
func (z *npz) choose(asked, what string, usual ...string) (string, error) {
	if asked != "" {
		usual = []string{asked}
	}
	for _, name := range usual {
		if z.find(name) != nil {
			return name, nil
		}
	}
	for k := range usual {
		usual[k] = quote(usual[k])
	}
	return "", z.src.errorf("found the arrays %s, wanted %s named %s; say which it is", quoteList(z.names), what, strings.Join(usual, " or "))
}

// open returns the header of an array and a reader of its elements.
func (z *npz) open(name string) (npyHeader, io.ReadCloser, error) {
	f, err := z.find(name).Open()
	if err != nil {
		return npyHeader{}, nil, z.src.errorf("array %s: %w", quote(name), err)
	}
	r := &member{z: z, name: name, r: f}
	h, err := readNPYHeader(r)
	if err != nil {
		f.Close()
		return npyHeader{}, nil, z.src.errorf("array %s: %w", quote(name), err)
	}
	return h, r, nil
}

// member reads an array; its errors, io.EOF aside, are worded.
type member struct {
	z    *npz
	name string
	r    io.ReadCloser
}

func (m *member) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.z.src.text += int64(n)
	if err != nil && err != io.EOF {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("it is cut short")
		}
		err = m.z.src.errorf("array %s: cannot unpack it: %w; fetch the file again", quote(m.name), err)
	}
	return n, err
}

func (m *member) Close() error { return m.r.Close() }

// readLabels reads the array of labels.
func (z *npz) readLabels(o Options, sparse bool) (*external, error) {
	name, err := z.choose(o.YName, "the labels", "y", "Y")
	if err != nil {
		if sparse && o.YName == "" {
			return nil, z.src.errorf("found a sparse matrix of SciPy without labels, wanted a second file with them (or an array y beside it)")
		}
		return nil, err
	}
	h, r, err := z.open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return readLabelArray(z.src, r, fmt.Sprintf("%s: array %s", z.src.path, quote(name)), h, o)
}

// readMatrix enters the examples of the array X.
func (z *npz) readMatrix(b *builder) error {
	name, err := z.choose(b.o.XName, "the examples", "X", "x")
	if err != nil {
		only, found := z.onlyMatrix()
		if !found || b.o.XName != "" {
			return err
		}
		name = only
	}
	h, r, err := z.open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	return b.readNPYMatrix(r, h)
}

// onlyMatrix returns the one array of two dimensions, if there is just one.
func (z *npz) onlyMatrix() (name string, found bool) {
	for _, other := range z.names {
		h, r, err := z.open(other)
		if err != nil {
			continue
		}
		r.Close()
		if len(h.shape) == 2 {
			if found {
				return "", false
			}
			name, found = other, true
		}
	}
	return name, found
}
