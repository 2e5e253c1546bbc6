// Package zstd makes package file read and write files that Zstandard has packed, and unpack gzip
// faster. A program that wants it imports it, if only for that: import _
// "github.com/uma-gpu/uma-gpu/host/dataset/zstd".
package zstd

import (
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/uma-gpu/uma-gpu/host/dataset/file"
)

func init() {
	file.RegisterPacking(file.Packing{
		Name: "zstd", Magic: []byte{0x28, 0xb5, 0x2f, 0xfd}, Ending: ".zst",
		Reader: func(r io.Reader, window uint64) (io.ReadCloser, error) {
			// One goroutine, so that nothing runs on when reading ends early.
			z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
				zstd.WithDecoderMaxWindow(window))
			if err != nil {
				return nil, err
			}
			return z.IOReadCloser(), nil
		},
		Writer: func(w io.Writer) (io.WriteCloser, error) {
			return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		},
	})
	file.RegisterPacking(file.Packing{
		Name: "gzip", Magic: []byte{0x1f, 0x8b}, Ending: ".gz",
		Reader: func(r io.Reader, _ uint64) (io.ReadCloser, error) { return gzip.NewReader(r) },
		Writer: func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
	})
}
