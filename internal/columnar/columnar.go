// Package columnar says what a table is whose values lie column by column in a file: what a reader
// of such a format gives to package dataset, which knows no library for any.
package columnar

import (
	"io"

	"github.com/uma-gpu/uma-gpu/internal/npyfile"
)

// Table is an open file. Its errors do not name the file.
type Table interface {
	// Columns returns all columns in their order.
	Columns() []Column
	// Groups returns the number of rows of each row group, as the file claims it.
	Groups() []int64
	// Check returns an error if a column of a row group is not what the file says of it.
	Check(group, column int) error
	// Read calls take for every row of a column of a row group: with the bytes of the value, valid
	// until the next call, or with nil for a missing one.
	Read(group, column int, take func(row int, value []byte)) error
}

// Column is what a file says of a column.
type Column struct {
	Name string
	// Number says how the bytes of a value are a number, its Kind 'S' that they are a text, and 0
	// that they are neither.
	Number npyfile.Type
	// Decimal says that the text is a number.
	Decimal bool
	// Date says that the values are dates or times.
	Date bool
	// Nested says that a row may have several values.
	Nested bool
	// Type is the file's name of the type.
	Type string
}

// Limits bound what a damaged file can ask for.
type Limits struct {
	Page   int64  // bytes that a page may have unpacked, however few it has packed
	Window uint64 // bytes of the window of zstd
}

// Open opens a table of so many bytes.
type Open func(r io.ReaderAt, size int64, l Limits) (Table, error)
