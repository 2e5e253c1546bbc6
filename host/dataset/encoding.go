package dataset

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// What a column of a table holds, in Column.Kind.
const (
	KindNumber   = "number"
	KindCategory = "category"
	KindText     = "text"
	KindAside    = "aside" // no feature: names of examples, dates, or nothing
)

// What stands for a missing value, in Encoding.Missing and EncodeOptions.Missing.
const (
	MissingError     = "error"
	MissingMean      = "mean"
	MissingIndicator = "indicator"
	// MissingAuto is MissingIndicator, and the rest of EncodeOptions.Missing.
	MissingAuto = "auto"
)

// Encoding says which features the columns of a table become. A model keeps it as JSON and gets the
// same bits back. It does not change once it is learned.
type Encoding struct {
	// Missing is what a missing value becomes: "error"; "mean", that of the column, or no level;
	// "indicator", which adds a feature of 1 if the training data had missing values.
	Missing string `json:"missing"`
	// Columns are the columns of the table that become features, in their order.
	Columns []Column `json:"columns"`
}

// Column says which features one column of a table becomes, side by side.
type Column struct {
	// Name is the column's in the header, "" in a table without one.
	Name string `json:"name,omitempty"`
	// Kind is "number", a feature and one for each knot; "category", a feature of 0 or 1 for each
	// level; "text", one for each term; or "aside", none.
	Kind string `json:"kind"`
	// Dates says that a number is the seconds since 1970, in UTC, of a date.
	Dates bool `json:"dates,omitempty"`
	// Commas says that numbers in texts have a decimal comma.
	Commas bool `json:"decimal_commas,omitempty"`
	// Origin is subtracted from a number in float64 before it is rounded to float32, once; Knots and
	// Mean are behind it. It is 0 unless the training data were far from it and no float32.
	Origin float64 `json:"origin,omitempty"`
	// Levels are the levels of the training data, in the order of SortClasses.
	Levels []string `json:"levels,omitempty"`
	// Terms are a text's vocabulary, sorted, and IDF the weight of each.
	Terms []string  `json:"terms,omitempty"`
	IDF   []float32 `json:"idf,omitempty"`
	// Knots bend what is linear in a number v: behind v come max(0, v-t) for each knot t of at least
	// 0, and max(0, t-v) for the others, so that 0 stays 0. They increase.
	Knots []float32 `json:"knots,omitempty"`
	// Mean is that of the training data's numbers, nil unless it stands for missing ones.
	Mean *float32 `json:"mean,omitempty"`
	// Indicator says that there is one more feature, the last: 1 where the value is missing.
	Indicator bool `json:"indicator,omitempty"`
}

// Check says what keeps e from being an encoding.
func (e *Encoding) Check() error {
	if e.Missing != MissingError && e.Missing != MissingMean && e.Missing != MissingIndicator {
		return fmt.Errorf("encoding: found the choice %s for missing values, wanted error, mean or "+
			"indicator", quote.Text(e.Missing))
	}
	if len(e.Columns) == 0 {
		return fmt.Errorf("encoding: found no column, wanted at least one")
	}
	for j := range e.Columns {
		if fault := e.Columns[j].fault(e.Missing); fault != "" {
			return fmt.Errorf("encoding: column %d (%s): %s", j+1, quote.Printable(e.Columns[j].Name), fault)
		}
	}
	return nil
}

// fault says what is wrong with c, "" if nothing is.
func (c *Column) fault(missing string) string {
	number, text, aside := c.Kind == KindNumber, c.Kind == KindText, c.Kind == KindAside
	seen := make(map[string]bool, len(c.Levels))
	for k, name := range append([]string{c.Name}, c.Levels...) {
		if !utf8.ValidString(name) {
			return fmt.Sprintf("found %s, which is not UTF-8; convert the data file to UTF-8 (iconv -t "+
				"UTF-8)", quote.Text(name))
		}
		if seen[name] {
			return fmt.Sprintf("found the level %s twice", quote.Text(name))
		}
		seen[name] = k > 0
	}
	switch {
	case !number && !text && !aside && c.Kind != KindCategory:
		return fmt.Sprintf("found the kind %s, wanted number, category, text or aside",
			quote.Text(c.Kind))
	case c.Kind != KindCategory && c.Levels != nil:
		return "found levels of a column of the kind " + c.Kind
	case !text && c.Terms != nil:
		return "found terms of a column that is no text"
	case !number && c.Knots != nil:
		return "found knots of a column of the kind " + c.Kind
	case (c.Origin != 0 || c.Dates || c.Commas) && !number || math.IsNaN(c.Origin) ||
		math.IsInf(c.Origin, 0):
		return fmt.Sprintf("found the origin %v of a column of the kind %s, wanted a finite one, of "+
			"numbers", c.Origin, c.Kind)
	case c.Mean != nil && !decimal.Finite(*c.Mean):
		return fmt.Sprintf("found the mean %v, wanted a finite number", *c.Mean)
	case (c.Mean != nil) != (number && missing != MissingError):
		return fmt.Sprintf("found a mean where missing values are %s and the column is a %s", missing,
			c.Kind)
	case c.Indicator && (text || aside || missing != MissingIndicator):
		return "found an indicator, wanted none as missing values have none"
	case c.Width() == 0 && !aside:
		return "found a category without any level, or a text without any term"
	}
	for k, t := range c.Knots {
		if !decimal.Finite(t) || k > 0 && t <= c.Knots[k-1] {
			return fmt.Sprintf("found the knots %v, wanted finite numbers that increase", c.Knots)
		}
	}
	return c.textFault()
}

// Bend returns the feature of a knot for the number v, 0 if it is subnormal.
func Bend(v, knot float32) float32 {
	d := v - knot
	if knot < 0 {
		d = knot - v
	}
	if d < 0x1p-126 {
		return 0
	}
	return d
}

// Width is how many features c becomes.
func (c *Column) Width() int {
	n := len(c.Levels) + len(c.Terms)
	if c.Kind == KindNumber {
		n = 1 + len(c.Knots)
	}
	if c.Indicator {
		n++
	}
	return n
}

// features are the names of c's features.
func (c *Column) features() []string {
	var names []string
	if c.Kind == KindNumber {
		names = append(names, c.Name)
		for _, t := range c.Knots {
			side := " above "
			if t < 0 {
				side = " below "
			}
			names = append(names, c.Name+side+strconv.FormatFloat(float64(t), 'g', -1, 32))
		}
	}
	for _, level := range slices.Concat(c.Levels, c.Terms) {
		names = append(names, c.Name+"="+level)
	}
	if c.Indicator {
		names = append(names, c.Name+" (missing)")
	}
	return names
}

// Plain reports whether the features are the columns, all of them numbers; so they are without e.
func (e *Encoding) Plain() bool {
	return e == nil || !slices.ContainsFunc(e.Columns, func(c Column) bool {
		return c.Kind != KindNumber || c.Knots != nil || c.Indicator || c.Dates
	})
}

// Origins returns the origin of each column, nil if all are 0.
func (e *Encoding) Origins() []float64 {
	if e == nil || !slices.ContainsFunc(e.Columns, func(c Column) bool { return c.Origin != 0 }) {
		return nil
	}
	origins := make([]float64, len(e.Columns))
	for j, c := range e.Columns {
		origins[j] = c.Origin
	}
	return origins
}

// Commas says which columns have decimal commas; nil for none.
func (e *Encoding) Commas() []bool {
	if e == nil || !slices.ContainsFunc(e.Columns, func(c Column) bool { return c.Commas }) {
		return nil
	}
	commas := make([]bool, len(e.Columns))
	for j, c := range e.Columns {
		commas[j] = c.Commas
	}
	return commas
}

// Width returns the number of features of e.
func (e *Encoding) Width() int {
	n := 0
	for j := range e.Columns {
		n += e.Columns[j].Width()
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

// ColumnNames returns the names of the columns that become features; nil if the table had none.
func (e *Encoding) ColumnNames() []string {
	named := false
	var names []string
	for _, c := range e.Columns {
		if named = named || c.Name != ""; c.Kind != KindAside {
			names = append(names, c.Name)
		}
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
		{KindNumber, "numbers"}, {KindCategory, "categories"}, {KindText, "texts"},
		{KindAside, "set aside"},
	} {
		n := 0
		for j := range e.Columns {
			if e.Columns[j].Kind == kind.one {
				n++
			}
		}
		switch {
		case n == 1 && kind.one != KindAside:
			parts = append(parts, "1 "+kind.one)
		case n > 0:
			parts = append(parts, fmt.Sprintf("%d %s", n, kind.many))
		}
	}
	return strings.Join(parts, ", ") + fmt.Sprintf(": %d features", e.Width())
}

// HasText reports whether a column is a text.
func (e *Encoding) HasText() bool {
	return e != nil && slices.ContainsFunc(e.Columns,
		func(c Column) bool { return c.Kind == KindText })
}

// textFault says what is wrong with the vocabulary of c, "" if nothing is.
func (c *Column) textFault() string {
	if len(c.Terms) != len(c.IDF) {
		return fmt.Sprintf("found %d terms and the idf of %d, wanted one for each", len(c.Terms),
			len(c.IDF))
	}
	last := ""
	for k, term := range c.Terms {
		switch idf := c.IDF[k]; {
		case term <= last || !utf8.ValidString(term):
			return fmt.Sprintf("found the term %s behind %s, wanted sorted terms, none of them empty",
				quote.Text(term), quote.Text(last))
		case !(idf >= 1 && idf < 100): // n is below 2^31
			return fmt.Sprintf("found the idf %v of %s, wanted 1 to 100", idf, quote.Text(term))
		}
		last = term
	}
	return ""
}

// MissingCount says how many values a column of a table lacks.
type MissingCount struct {
	Column string `json:"column"` // by position and name
	Values int    `json:"values"`
}
