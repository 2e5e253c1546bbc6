package file

import (
	"context"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/internal/names"
)

// forTable returns o for a table with those columns: a model's Encoding wants the columns it was
// made of, unless the table has the features themselves.
func (o Options) forTable(header []string) Options {
	e := o.Encoding
	if e == nil {
		return o
	}
	columns, there := e.ColumnNames(), names.Set(header)
	has := func(wanted []string) bool {
		return wanted != nil && !slices.ContainsFunc(wanted,
			func(name string) bool { return !there[name] })
	}
	if !has(columns) && has(e.FeatureNames()) {
		o.Encoding, o.Encode = nil, nil
		return o
	}
	o.Features = len(e.Columns)
	if o.FeatureNames != nil {
		o.FeatureNames = columns
	}
	return o
}

// withoutFirstColumn returns e without its first column.
func withoutFirstColumn(e *dataset.Encoding) *dataset.Encoding {
	if e == nil {
		return nil
	}
	return &dataset.Encoding{Missing: e.Missing, Columns: e.Columns[1:]}
}

// CellError is the error of one value of a row that Encoding.Encode refuses.
type CellError struct {
	Row, Column int // from 0; Column is -1 if the row as a whole is at fault
	Fault       string
}

func (e *CellError) Error() string { return e.Fault }

// Made reports whether a table with those columns holds what e makes features of, not the features.
func Made(e *dataset.Encoding, columns []string) bool {
	return Options{Table: Table{Encoding: e},
		FeatureNames: e.FeatureNames()}.forTable(columns).Encoding != nil
}

// Encode returns features of rows of texts, nil for missing ones, as Read does of a CSV; unseen is
// Options.Unseen. Errors of a row are *CellError; warnings tell unknown levels.
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
	c, fault := chooseColumns(columnNames, width, o.forTable(columnNames), nil)
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
	if x, err = s.Encode(context.Background(), marks); err != nil {
		return dataset.Examples{}, nil, err
	}
	d := dataset.Dataset{Examples: x}
	s.About(&d)
	return x, append(d.Warnings, d.Notes...), nil
}
