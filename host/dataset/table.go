package dataset

import (
	"fmt"
	"strings"

	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// Table is N examples as people have them, in typed columns. Package features learns an Encoding
// from it, and makes Examples of it.
type Table struct {
	N       int
	Columns []TableColumn
}

// TableColumn is a column of a Table. Kind says which of Numbers, Codes and Texts has N entries; a
// column that is set aside has none.
type TableColumn struct {
	Name     string // the header's, "" without one
	Position int    // in the file, from 1
	Kind     string // as Column.Kind

	Numbers []float32 // KindNumber: what is above Origin, finite, or NaN for a missing value
	Origin  float64   // of the Numbers, see Column.Origin
	Dates   bool      // KindNumber: they are the seconds since 1970
	Commas  bool      // KindNumber: their decimal mark is a comma
	Codes   []int32   // KindCategory: places in Levels, below 0 for a missing value
	Levels  []string  // the different values of a category, in any order
	Texts   Texts     // KindText; a missing text is empty

	// Chosen says that the user calls it a category: no level is too rare, and none are too many.
	Chosen bool
}

// Texts are texts of UTF-8, one behind another in an array that may be mapped.
type Texts struct {
	Bytes []byte
	Ends  []int64 // where each text ends in Bytes
}

// At returns text i, sharing memory.
func (t Texts) At(i int) []byte {
	from := int64(0)
	if i > 0 {
		from = t.Ends[i-1]
	}
	return t.Bytes[from:t.Ends[i]]
}

// String describes c in messages: column 3 (age).
func (c *TableColumn) String() string { return ColumnText(c.Position, c.Name) }

// Option is what an option calls c: its name if that is short and has no comma, else its position.
func (c *TableColumn) Option() string { return ColumnOption(c.Position, c.Name) }

// ColumnText describes a column in messages.
func ColumnText(position int, name string) string {
	if name == "" {
		return fmt.Sprintf("column %d", position)
	}
	return fmt.Sprintf("column %d (%s)", position, quote.Printable(name))
}

// ColumnOption is what an option calls a column.
func ColumnOption(position int, name string) string {
	if name != "" && name == quote.Short(name) && !strings.Contains(name, ",") {
		return name
	}
	return fmt.Sprint(position)
}
