//go:build !unix

package store

import "errors"

// CanReserve says whether memory can have addresses and nothing behind them.
const CanReserve = false

func Reserve(size, from, to int) ([]byte, error) { return nil, errors.ErrUnsupported }

func GiveBack([][]byte) {}

func Hide(raw []byte, from, to int) error { return errors.ErrUnsupported }
