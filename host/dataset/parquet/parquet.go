// Package parquet makes package dataset read Apache Parquet, and writes it. A program that reads
// such files imports it, if only for that: import _
// "github.com/uma-gpu/uma-gpu/host/dataset/parquet".
package parquet

import (
	"io"

	"github.com/uma-gpu/uma-gpu/internal/columnar"
	"github.com/uma-gpu/uma-gpu/internal/parquetfile"
)

func init() { columnar.Parquet = parquetfile.Open }

// Write writes rows as a table of one column for each field of the struct T, named by the field's
// tag `parquet:"name"`: numbers, truths or texts. The same rows give the same bytes.
func Write[T any](w io.Writer, rows []T) error { return parquetfile.Write(w, rows) }
