package file

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	parquetformat "github.com/parquet-go/parquet-go/format"

	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// checkFooter returns an error if the footer, a struct of Thrift's compact protocol, claims more
// than it holds: the library makes room for what it claims, and keeps the path of each column.
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
	const growth = 256 // bytes of memory that a byte may become
	if err := memory.Check(memory.Product(int(length), growth),
		fmt.Sprintf("a footer of %d bytes", length)); err != nil {
		return err
	}
	footer := make([]byte, length)
	if _, err := r.ReadAt(footer, size-8-length); err != nil && err != io.EOF {
		return err
	}
	if w := (walker{footer}); w.object(0) != nil {
		return fmt.Errorf("the footer claims %w", errSizes)
	}
	var meta parquetformat.FileMetaData
	if err := thrift.Unmarshal(&thrift.CompactProtocol{}, footer, &meta); err != nil {
		return fmt.Errorf("cannot read its footer: %w", err)
	}
	return checkDepth(meta.Schema)
}

// checkDepth returns an error if groups are nested deep or their sizes do not fit the schema, in
// which a group precedes its columns.
func checkDepth(schema []parquetformat.SchemaElement) error {
	const deepest = 64
	var left []int32 // columns to come of each group that is open
	for k, e := range schema {
		for len(left) > 0 && left[len(left)-1] == 0 {
			left = left[:len(left)-1]
		}
		if k > 0 && len(left) == 0 {
			return fmt.Errorf("found %d names in its schema, wanted %d as its groups say", len(schema), k)
		}
		if k > 0 {
			left[len(left)-1]--
		}
		switch n := e.NumChildren.V; {
		case n < 0 || int(n) > len(schema):
			return fmt.Errorf("found a group of %d columns in a schema of %d names", n, len(schema))
		case n > 0 && len(left) == deepest:
			return fmt.Errorf("found columns nested more than %d deep, wanted plain ones", deepest)
		case n > 0 || k == 0:
			left = append(left, n)
		case !e.Type.Valid:
			return fmt.Errorf("found no type of column %.40q in its schema", e.Name)
		}
	}
	for _, n := range left {
		if n > 0 {
			return fmt.Errorf("found the end of its schema within a group")
		}
	}
	return nil
}

var errSizes = errors.New("sizes that do not fit the file")

// walker passes over values of the compact protocol.
type walker struct{ rest []byte }

func (w *walker) skip(n uint64) error {
	if n > uint64(len(w.rest)) {
		return errSizes
	}
	w.rest = w.rest[n:]
	return nil
}

func (w *walker) varint() (uint64, error) {
	v, n := binary.Uvarint(w.rest)
	if n <= 0 {
		return 0, errSizes
	}
	return v, w.skip(uint64(n))
}

// object passes over a struct within depth others.
func (w *walker) object(depth int) error {
	const deepest = 32
	if depth > deepest {
		return errSizes
	}
	for {
		if len(w.rest) == 0 {
			return errSizes
		}
		head := w.rest[0]
		w.rest = w.rest[1:]
		if head == 0 {
			return nil
		}
		if head>>4 == 0 { // the number of the field follows
			if _, err := w.varint(); err != nil {
				return err
			}
		}
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
		if len(w.rest) == 0 {
			return errSizes
		}
		head := w.rest[0]
		w.rest = w.rest[1:]
		n, err := uint64(head>>4), error(nil)
		if n == 15 {
			n, err = w.varint()
		}
		if n > uint64(len(w.rest)) { // every element has a byte at least
			return errSizes
		}
		for ; n > 0 && err == nil; n-- {
			err = w.value(head&15, depth+1)
		}
		return err
	case 12:
		return w.object(depth + 1)
	}
	return errSizes // Parquet has no maps
}
