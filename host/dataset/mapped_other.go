//go:build !unix

package dataset

import (
	"errors"
	"os"
)

func mapScratch(*os.File, int) ([]byte, error) { return nil, errors.ErrUnsupported }

// mapFile reads where files cannot be mapped.
func mapFile(f *os.File, size int) (raw []byte, unmap func([]byte) error, err error) {
	raw, err = readAligned(f, size)
	return raw, nil, err
}
