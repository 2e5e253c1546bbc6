// Package columnar is the interface between package file and readers of tables stored by columns.
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
	// Read calls take for every row of a column with its bytes, valid until the next call; nil if
	// missing.
	Read(group, column int, take func(row int, value []byte)) error
}

// Column is what a file says of a column.
type Column struct {
	Name string
	// Number says how bytes are a number: Kind 'S' a text, 0 neither.
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

// Open opens a table of size bytes.
type Open func(r io.ReaderAt, size int64, l Limits) (Table, error)

// Parquet opens a Parquet file; nil unless package host/dataset/parquet is linked.
var Parquet Open
