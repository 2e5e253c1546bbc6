package file

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// packing is a way to compress a file as a whole.
type packing struct {
	name   string
	magic  []byte // with which a packed file begins
	ending string // of the path of a packed file, in lower case
	// unpack uses at most window bytes of memory for what repeats. Nothing of it runs on when reading
	// ends early.
	unpack func(r io.Reader, window uint64) (io.ReadCloser, error)
	// pack packs the same data into the same bytes.
	pack func(w io.Writer) (io.WriteCloser, error)
}

var packings = []packing{{
	name: "gzip", magic: []byte{0x1f, 0x8b}, ending: ".gz",
	unpack: func(r io.Reader, _ uint64) (io.ReadCloser, error) { return gzip.NewReader(r) },
	// No name and no time in the header.
	pack: func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
}, {
	name: "zstd", magic: []byte{0x28, 0xb5, 0x2f, 0xfd}, ending: ".zst",
	unpack: func(r io.Reader, window uint64) (io.ReadCloser, error) {
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(window))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	},
	pack: func(w io.Writer) (io.WriteCloser, error) {
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	},
}}

// packingOf returns the packing of a file that begins with magic; nil if it is none.
func packingOf(magic []byte) *packing {
	k := slices.IndexFunc(packings, func(p packing) bool { return bytes.HasPrefix(magic, p.magic) })
	if k < 0 {
		return nil
	}
	return &packings[k]
}

// packer returns what packs a file of that path, nil if its ending asks for none.
func packer(path string, w io.Writer) (io.WriteCloser, error) {
	for _, p := range packings {
		if strings.HasSuffix(strings.ToLower(path), p.ending) {
			return p.pack(w)
		}
	}
	return nil, nil
}
