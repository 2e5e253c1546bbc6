package file

import (
	"context"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// CellError is the error of one value of a row that Encoding.Encode refuses.
type CellError struct {
	Row, Column int // from 0; Column is -1 if the row as a whole is at fault
	Fault       string
}

func (e *CellError) Error() string { return e.Fault }

// Made reports whether a table with columns of those names, nil if they have none, holds what e
// makes features of, and not the features themselves, under their names.
func Made(e *dataset.Encoding, columns []string) bool {
	return Options{Table: Table{Encoding: e},
		FeatureNames: e.FeatureNames()}.forTable(columns).Encoding != nil
}

// Encode makes examples of rows of a table, each a text for each column and nil for a missing
// value, as Read does of the fields of a CSV. Columns are matched by name where both have names,
// and else by position; unseen is Options.Unseen. Warnings are about levels that e does not know.
// Errors are *CellError where they belong to a row.
func Encode(e *dataset.Encoding, columnNames []string, rows [][]*string, unseen string,
) (x dataset.Examples, warnings []string, err error) {
	o := Options{Table: Table{Encoding: e, Unseen: unseen}, FeatureNames: e.FeatureNames(),
		NoLabels: true}
	if err := o.check(); err != nil {
		return dataset.Examples{}, nil, err
	}
	width := len(e.Columns)
	if columnNames != nil {
		width = len(columnNames)
	}
	c, fault := chooseColumns(columnNames, width, o.forTable(columnNames))
	if fault != "" {
		return dataset.Examples{}, nil, fmt.Errorf("columns: %s", fault)
	}
	s, fault := c.cells("rows", "row", nil, o)
	if fault != "" {
		return dataset.Examples{}, nil, fmt.Errorf("columns: %s", fault)
	}
	marks := dataset.Examples{N: len(rows), Starts: make([]int64, 1, len(rows)+1)}
	subnormals := 0
	for i, row := range rows {
		if len(row) != width {
			return dataset.Examples{}, nil, &CellError{i, -1,
				fmt.Sprintf("found %d values, wanted %d, one for each column", len(row), width)}
		}
		s.Begin(i)
		k := 0
		for j, text := range row {
			if c.role[j] != feature {
				continue
			}
			if text == nil {
				fault = s.SetMissing(k, nil)
			} else {
				fault = s.Set(k, []byte(*text), &subnormals)
			}
			if fault != "" {
				return dataset.Examples{}, nil, &CellError{i, j, fmt.Sprintf("%s: %s", c.describe(j), fault)}
			}
			k++
		}
		marks.Columns, marks.Values = s.AppendRow(marks.Columns, marks.Values)
		marks.Starts = append(marks.Starts, int64(len(marks.Values)))
	}
	marks.D = s.Width()
	if x, err = s.Encode(context.Background(), nil, marks); err != nil {
		return dataset.Examples{}, nil, err
	}
	d := dataset.Dataset{Examples: x}
	s.About(&d)
	return x, append(d.Warnings, d.Notes...), nil
}
