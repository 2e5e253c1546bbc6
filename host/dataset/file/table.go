package file

import (
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// forTable returns o as it is for a table with columns of those names, nil if they have none: of a
// model with an encoding, the columns that its features are made of are wanted, unless the table
// has the features themselves, as convert writes them.
func (o Options) forTable(names []string) Options {
	e := o.Encoding
	if e == nil {
		return o
	}
	columns, there := e.ColumnNames(), dataset.NameSet(names)
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
