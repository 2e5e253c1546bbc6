package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The library allocates what a file claims, so claims of the footer and of page heads, structs of
// Thrift's compact protocol, are compared with their bytes first.

var errThrift = errors.New("sizes that do not fit the file")

// structSize returns how many bytes the struct at the beginning of b has.
func structSize(b []byte) (int, error) {
	w := walker{b}
	if err := w.object(0); err != nil {
		return 0, err
	}
	return len(b) - len(w.rest), nil
}

// walker passes over values of the compact protocol.
type walker struct{ rest []byte }

func (w *walker) byte() (byte, error) {
	if len(w.rest) == 0 {
		return 0, errThrift
	}
	b := w.rest[0]
	return b, w.skip(1)
}

func (w *walker) varint() (uint64, error) {
	v, n := binary.Uvarint(w.rest)
	if n <= 0 {
		return 0, errThrift
	}
	return v, w.skip(uint64(n))
}

func (w *walker) skip(n uint64) error {
	if n > uint64(len(w.rest)) {
		return errThrift
	}
	w.rest = w.rest[n:]
	return nil
}

// object passes over a struct that lies in depth others. No field may stand in it twice.
func (w *walker) object(depth int) error {
	const deepest = 32
	if depth > deepest {
		return errThrift
	}
	field, seen := uint64(0), uint64(0)
	for {
		head, err := w.byte()
		if err != nil || head == 0 {
			return err
		}
		if field += uint64(head >> 4); head>>4 == 0 {
			if field, err = w.varint(); err != nil {
				return err
			}
			field >>= 1 // no field of Parquet is negative
		}
		if field < 64 && seen>>field&1 == 1 {
			return errThrift
		}
		seen |= 1 << field
		if kind := head & 15; kind > 2 { // a truth value has no bytes of its own
			if err := w.value(kind, depth); err != nil {
				return err
			}
		}
	}
}

// value passes over a value of one kind.
func (w *walker) value(kind byte, depth int) error {
	switch kind {
	case 1, 2, 3:
		return w.skip(1)
	case 4, 5, 6:
		_, err := w.varint()
		return err
	case 7:
		return w.skip(8)
	case 8:
		n, err := w.varint()
		if err != nil {
			return err
		}
		return w.skip(n)
	case 9, 10:
		head, err := w.byte()
		if err != nil {
			return err
		}
		n := uint64(head >> 4)
		if n == 15 {
			if n, err = w.varint(); err != nil {
				return err
			}
		}
		if n > uint64(len(w.rest)) { // every element has a byte at least
			return errThrift
		}
		for ; n > 0 && err == nil; n-- {
			err = w.value(head&15, depth+1)
		}
		return err
	case 12:
		return w.object(depth + 1)
	}
	return errThrift // Parquet has no maps
}

// checkFooter returns an error if the end of a file claims more than there is.
func checkFooter(r io.ReaderAt, size int64) error {
	tail := make([]byte, 8)
	if size < 12 {
		return fmt.Errorf("it has only %d bytes", size)
	}
	if _, err := r.ReadAt(tail, size-8); err != nil && err != io.EOF {
		return err
	}
	length := int64(binary.LittleEndian.Uint32(tail))
	if string(tail[4:]) != "PAR1" || length > size-12 {
		return fmt.Errorf("found no footer at its end")
	}
	footer := make([]byte, length)
	if _, err := r.ReadAt(footer, size-8-length); err != nil && err != io.EOF {
		return err
	}
	if _, err := structSize(footer); err != nil {
		return fmt.Errorf("the footer claims %w", err)
	}
	return checkSchema(footer)
}
