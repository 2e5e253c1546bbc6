package parquetfile

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// Write writes rows as a table of one column for each field of T, named by its parquet tag; the
// same rows give the same bytes.
func Write[T any](w io.Writer, rows []T) error {
	table := parquet.NewGenericWriter[T](w, parquet.CreatedBy("uma-gpu", "", ""))
	if _, err := table.Write(rows); err != nil {
		return fmt.Errorf("write Parquet: %w", err)
	}
	if err := table.Close(); err != nil {
		return fmt.Errorf("write Parquet: %w", err)
	}
	return nil
}
