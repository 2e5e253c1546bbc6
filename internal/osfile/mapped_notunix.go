//go:build !unix

package osfile

import (
	"errors"
	"io"
	"os"
)

// mapFile reads the file, to memory that any element may begin in.
func mapFile(f *os.File, size int) (raw []byte, heap bool, err error) {
	raw = Bytes(make([]int64, (size+7)/8))[:size]
	_, err = io.ReadFull(io.NewSectionReader(f, 0, int64(size)), raw)
	return raw, true, err
}

func mapWritable(*os.File, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func unmap([]byte) error { return nil }
