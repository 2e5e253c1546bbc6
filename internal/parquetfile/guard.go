package dataset

import (
	"encoding/binary"
	"fmt"
	"io"
)

// The library believes the sizes that a Parquet file claims and asks for the
// memory at once, which a damaged file of some bytes can make gigabytes; such a
// failure cannot be caught. So the claims of the footer are looked at first. The
// heads of the pages, which parquetpage.go reads, are structs of the same form,
// Thrift's compact protocol.

// thriftWalker passes over values of the compact protocol.
type thriftWalker struct {
	rest []byte
	// number is told the integers and truths (1 and 0) of the outermost struct (in is
	// 0) and of the structs that are its fields (in is the field).
	number func(in, field int16, v int64)
}

var errThrift = fmt.Errorf("sizes that do not fit the file")

func (w *thriftWalker) byte() (byte, error) {
	if len(w.rest) == 0 {
		return 0, errThrift
	}
	b := w.rest[0]
	w.rest = w.rest[1:]
	return b, nil
}

func (w *thriftWalker) varint() (uint64, error) {
	v, n := binary.Uvarint(w.rest)
	if n <= 0 {
		return 0, errThrift
	}
	w.rest = w.rest[n:]
	return v, nil
}

func (w *thriftWalker) skip(n uint64) error {
	if n > uint64(len(w.rest)) {
		return errThrift
	}
	w.rest = w.rest[n:]
	return nil
}

// object passes over a struct, which stands at that depth in field in of the
// outermost one.
func (w *thriftWalker) object(depth int, in int16) error {
	const deepest = 32
	if depth > deepest {
		return errThrift
	}
	field := int16(0)
	for {
		head, err := w.byte()
		if err != nil || head == 0 {
			return err
		}
		if delta := int16(head >> 4); delta != 0 {
			field += delta
		} else {
			id, err := w.varint()
			if err != nil {
				return err
			}
			field = int16(id>>1) ^ -int16(id&1)
		}
		kind := head & 15
		if kind == 1 || kind == 2 { // a truth value, which has no bytes of its own
			if depth <= 1 && w.number != nil {
				w.number(in, field, int64(2-kind))
			}
			continue
		}
		if err := w.value(kind, depth, in, field); err != nil {
			return err
		}
	}
}

// value passes over a value of one kind.
func (w *thriftWalker) value(kind byte, depth int, in, field int16) error {
	switch kind {
	case 1, 2, 3:
		return w.skip(1)
	case 4, 5, 6:
		v, err := w.varint()
		if err == nil && depth <= 1 && w.number != nil {
			w.number(in, field, int64(v>>1)^-int64(v&1))
		}
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
		for range n {
			// What is in a list is no direct field, whatever its depth.
			if err := w.value(head&15, max(depth, 1)+1, 0, 0); err != nil {
				return err
			}
		}
		return nil
	case 12:
		return w.object(depth+1, field)
	}
	return errThrift // Parquet has no maps
}

// checkParquetFooter refuses a file whose end claims more than there is.
func checkParquetFooter(r io.ReaderAt, size int64) error {
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
	w := thriftWalker{rest: footer}
	if err := w.object(0, 0); err != nil {
		return fmt.Errorf("the footer claims %w", err)
	}
	return checkParquetSchema(footer)
}
