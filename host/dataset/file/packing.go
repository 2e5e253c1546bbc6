package file

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Packing is a way to compress a file as a whole.
type Packing struct {
	Name   string
	Magic  []byte // with which a packed file begins
	Ending string // of the path of a packed file, in lower case
	// Reader unpacks r, with at most window bytes of memory for what repeats. Nothing of it runs on
	// when reading ends early.
	Reader func(r io.Reader, window uint64) (io.ReadCloser, error)
	// Writer packs what it is given, the same data into the same bytes, until it is closed.
	Writer func(w io.Writer) (io.WriteCloser, error)
}

// packings are the known ways to pack. Package host/dataset/zstd replaces two of them.
var packings = []Packing{{
	Name: "gzip", Magic: []byte{0x1f, 0x8b}, Ending: ".gz",
	Reader: func(r io.Reader, _ uint64) (io.ReadCloser, error) { return gzip.NewReader(r) },
	// No name and no time in the header.
	Writer: func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
}, {
	Name: "zstd", Magic: []byte{0x28, 0xb5, 0x2f, 0xfd}, Ending: ".zst",
}}

// errPacking marks a packing whose package the program does not import.
var errPacking = errors.New("packing is not part of this program")

// missing returns the error of a packing without functions.
func (p *Packing) missing() error {
	return fmt.Errorf("%w: got %s, want one of gzip (import package host/dataset/%s, or repack the "+
		"file)", errPacking, p.Name, p.Name)
}

// RegisterPacking adds p, in place of an older packing of its name. Init functions call it.
func RegisterPacking(p Packing) {
	isOld := func(old Packing) bool { return old.Name == p.Name }
	packings = append(slices.DeleteFunc(packings, isOld), p)
}

// packingOf returns the packing of a file that begins with magic; nil if it is none.
func packingOf(magic []byte) *Packing {
	k := slices.IndexFunc(packings, func(p Packing) bool { return bytes.HasPrefix(magic, p.Magic) })
	if k < 0 {
		return nil
	}
	return &packings[k]
}

// packer returns what packs a file of that path, nil if its ending asks for none.
func packer(path string, w io.Writer) (io.WriteCloser, error) {
	for _, p := range packings {
		if !strings.HasSuffix(strings.ToLower(path), p.Ending) {
			continue
		}
		if p.Writer == nil {
			return nil, p.missing()
		}
		return p.Writer(w)
	}
	return nil, nil
}
