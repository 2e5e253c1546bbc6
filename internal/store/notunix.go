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

// CanReserve says whether memory can have addresses and nothing behind them.
const CanReserve = false

func Reserve(size, from, to int) ([]byte, error) { return nil, errors.ErrUnsupported }

func GiveBack([][]byte) {}

func Hide(raw []byte, from, to int) error { return errors.ErrUnsupported }
