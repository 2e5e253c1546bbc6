package dataset

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// What a column of a table holds, in Column.Kind.
const (
	kindNumber   = "number"
	kindCategory = "category"
	kindText     = "text"
)

// What stands for a missing value, in Encoding.Missing and EncodeOptions.Missing.
const (
	missingError     = "error"
	missingMean      = "mean"
	missingIndicator = "indicator"
)

// Encoding says which features the columns of a table become. Read learns it from training
// data that are more than numbers, and by it reads other tables for the same model, which keeps
// it as JSON and gets the same bits back. It does not change once it is learned.
type Encoding struct {
	// Missing is what a missing value is: "error"; "mean", of the column's training data, and none
	// of the levels of a category; or "indicator", which is that and one more feature that is 1, if
	// the column had such values in the training data.
	Missing string `json:"missing"`
	// Columns are the columns of the table that become features, in their order.
	Columns []Column `json:"columns"`

	once   sync.Once          // makes
	places []map[string]int32 // of the terms of each column
}

// Column says which features one column of a table becomes, side by side.
type Column struct {
	// Name is the column's in the header, "" in a table without one.
	Name string `json:"name,omitempty"`
	// Kind is "number", one feature; "category", a feature for each of Levels, which is 1 where the
	// column has that level and else 0; or "text", a feature for each of Terms (TextOptions).
	Kind string `json:"kind"`
	// Levels are the levels of the training data, in the order of SortClasses.
	Levels []string `json:"levels,omitempty"`
	// Terms are the words and runs of words, sorted, of a text's vocabulary, and IDF what each is
	// worth.
	Terms []string  `json:"terms,omitempty"`
	IDF   []float32 `json:"idf,omitempty"`
	// Mean is that of the training data's numbers, nil unless it stands for missing ones.
	Mean *float32 `json:"mean,omitempty"`
	// Indicator says that there is one more feature, the last: 1 where the value is missing.
	Indicator bool `json:"indicator,omitempty"`
}

// EncodeOptions say how Read learns an Encoding. The zero value takes a column of a table for a
// category if most of its values are words.
type EncodeOptions struct {
	// Categories are columns that are categories whatever stands in them, by name or position as
	// in Options.LabelColumn. Unasked, a column of a CSV is one if more of its values in the first
	// mebibyte are words than numbers; of Parquet if its type is a text; of ARFF if it is nominal or
	// a string. true and false, yes and no are numbers: 1 and 0.
	Categories []string
	// Missing is "error" (the same as ""), "mean" or "indicator"; see Encoding.Missing. Missing
	// values are an empty field, what pandas takes for one (NA, N/A, NaN, null, None, …), ? and a
	// null.
	Missing string
	// Levels is the most levels that a category may have. 0 means DefaultLevels, and that it is an
	// error if more than half of the examples have a level of their own, as names of examples do.
	Levels int
	// Text says which columns are free text.
	Text TextOptions
}

// DefaultLevels is how many levels a category may have unless EncodeOptions say more: each
// becomes a feature.
const DefaultLevels = 1000

func (o *EncodeOptions) check() error {
	switch {
	case o == nil:
		return nil
	case o.Levels < 0:
		return fmt.Errorf("dataset: asked for categories of at most %d levels, wanted 0 (%d) or more",
			o.Levels, DefaultLevels)
	case o.Missing != "" && o.Missing != missingError && o.Missing != missingMean &&
		o.Missing != missingIndicator:
		return fmt.Errorf("dataset: unknown choice %s for missing values, wanted error, mean or "+
			"indicator", quote(o.Missing))
	}
	return o.Text.check()
}

// Check says what keeps e from being an encoding.
func (e *Encoding) Check() error {
	if e.Missing != missingError && e.Missing != missingMean && e.Missing != missingIndicator {
		return fmt.Errorf("encoding: found the choice %s for missing values, wanted error, mean or "+
			"indicator", quote(e.Missing))
	}
	if len(e.Columns) == 0 {
		return fmt.Errorf("encoding: found no column, wanted at least one")
	}
	for j := range e.Columns {
		if fault := e.Columns[j].fault(e.Missing); fault != "" {
			return fmt.Errorf("encoding: column %d (%s): %s", j+1, printable(e.Columns[j].Name), fault)
		}
	}
	return nil
}

// fault says what is wrong with c, "" if nothing is.
func (c *Column) fault(missing string) string {
	number, text := c.Kind == kindNumber, c.Kind == kindText
	seen := make(map[string]bool, len(c.Levels))
	for k, name := range append([]string{c.Name}, c.Levels...) {
		if !utf8.ValidString(name) {
			return fmt.Sprintf("found %s, which is not UTF-8; convert the data file to UTF-8 (iconv -t "+
				"UTF-8)", quote(name))
		}
		if seen[name] {
			return fmt.Sprintf("found the level %s twice", quote(name))
		}
		seen[name] = k > 0
	}
	switch {
	case !number && !text && c.Kind != kindCategory:
		return fmt.Sprintf("found the kind %s, wanted number, category or text", quote(c.Kind))
	case (number || text) && c.Levels != nil:
		return "found levels of a " + c.Kind
	case !text && c.Terms != nil:
		return "found terms of a column that is no text"
	case c.Mean != nil && !finite(*c.Mean):
		return fmt.Sprintf("found the mean %v, wanted a finite number", *c.Mean)
	case (c.Mean != nil) != (number && missing != missingError):
		return fmt.Sprintf("found a mean where missing values are %s and the column is a %s", missing,
			c.Kind)
	case c.Indicator && (text || missing != missingIndicator):
		return "found an indicator, wanted none as missing values have none"
	case c.width() == 0:
		return "found a category without any level, or a text without any term"
	}
	return c.textFault()
}

// width is how many features c becomes.
func (c *Column) width() int {
	n := len(c.Levels) + len(c.Terms)
	if c.Kind == kindNumber {
		n = 1
	}
	if c.Indicator {
		n++
	}
	return n
}

// features are the names of c's features.
func (c *Column) features() []string {
	var names []string
	if c.Kind == kindNumber {
		names = append(names, c.Name)
	}
	for _, level := range slices.Concat(c.Levels, c.Terms) {
		names = append(names, c.Name+"="+level)
	}
	if c.Indicator {
		names = append(names, c.Name+" (missing)")
	}
	return names
}

// Width returns the number of features of e.
func (e *Encoding) Width() int {
	n := 0
	for j := range e.Columns {
		n += e.Columns[j].width()
	}
	return n
}

// FeatureNames returns the names of the features, such as colour=red; nil if the table had none.
func (e *Encoding) FeatureNames() []string {
	if e.ColumnNames() == nil {
		return nil
	}
	var names []string
	for j := range e.Columns {
		names = append(names, e.Columns[j].features()...)
	}
	return names
}

// ColumnNames returns the names of the columns; nil if the table had none.
func (e *Encoding) ColumnNames() []string {
	named := false
	names := make([]string, len(e.Columns))
	for j, c := range e.Columns {
		names[j], named = c.Name, named || c.Name != ""
	}
	if !named {
		return nil
	}
	return names
}

// String says in short what e does: how many columns of each kind become how many features.
func (e *Encoding) String() string {
	var parts []string
	for _, kind := range []struct{ one, many string }{
		{kindNumber, "numbers"}, {kindCategory, "categories"}, {kindText, "texts"},
	} {
		n := 0
		for j := range e.Columns {
			if e.Columns[j].Kind == kind.one {
				n++
			}
		}
		switch {
		case n == 1:
			parts = append(parts, "1 "+kind.one)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", n, kind.many))
		}
	}
	return strings.Join(parts, ", ") + fmt.Sprintf(": %d features", e.Width())
}

// withoutFirst returns e without its first column.
func (e *Encoding) withoutFirst() *Encoding {
	if e == nil {
		return nil
	}
	return &Encoding{Missing: e.Missing, Columns: e.Columns[1:]}
}

// forTable returns o as it is for a table with columns of those names, nil if they have none: of a
// model with an encoding, the columns that its features are made of are wanted, unless the table
// has the features themselves, as convert writes them.
func (o Options) forTable(names []string) Options {
	e := o.Encoding
	if e == nil {
		return o
	}
	columns, there := e.ColumnNames(), set(names)
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
