//go:build !unix

package dataset

import "errors"

// canShare says whether memory can have addresses and nothing behind them.
const canShare = false

func reserve(size, from, to int) ([]byte, error) { return nil, errors.ErrUnsupported }

func giveBack([][]byte) {}

func hide(raw []byte, from, to int) error { return errors.ErrUnsupported }
