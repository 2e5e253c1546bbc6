//go:build !unix

package store

import (
	"errors"
	"os"
)

func mapScratch(*os.File, int) ([]byte, error) { return nil, errors.ErrUnsupported }

// MapFile reads where files cannot be mapped.
func MapFile(f *os.File, size int) (raw []byte, unmap func([]byte) error, err error) {
	raw, err = ReadAligned(f, size)
	return raw, nil, err
}
