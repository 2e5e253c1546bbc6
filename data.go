package umagpu

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// Data are n examples: a Table, a Matrix, or what FromDataset takes. They are only read.
type Data struct {
	Table  *Table  `json:"table,omitempty"`
	Matrix *Matrix `json:"matrix,omitempty"`
	// Name is what messages and reports call the data; "" for "data".
	Name string `json:"name,omitempty"`

	set    *dataset.Dataset
	memory []dataset.Memory
}

// FromDataset returns the examples of d, as package host/dataset/file reads them, raw or prepared.
// With dataset.InPlace a call may overwrite them.
func FromDataset(d *dataset.Dataset, m ...dataset.Memory) Data {
	return Data{set: d, Name: d.Path, memory: m}
}

// described returns what a result keeps of d: its name.
func (d Data) described() Data { return Data{Name: d.Name} }

// Table is typed columns of equal length.
type Table struct {
	Columns []Column `json:"columns"`
	TableOptions
}

// TableOptions say what columns become as features, in a training; a model keeps what it has
// learned of its own.
type TableOptions struct {
	Text         []string `json:"text,omitempty"`
	Categories   []string `json:"categories,omitempty"`
	Missing      string   `json:"missing,omitempty"`
	Levels       int      `json:"levels,omitempty"`
	Knots        *int     `json:"knots,omitempty"`
	TextFeatures int      `json:"text_features,omitempty"`
	TextMinDF    int      `json:"text_min_df,omitempty"`
	TextNgrams   int      `json:"text_ngrams,omitempty"`
	Storage      string   `json:"storage,omitempty"`
}

// ColumnKind is what the values of a Column are.
type ColumnKind string

// The kinds.
const (
	Number   ColumnKind = "number"
	Category ColumnKind = "category"
	Text     ColumnKind = "text"
	Date     ColumnKind = "date"
)

// Column is a column of a Table: a name, and values of its kind for each row. NewNumbers,
// NewCategory, NewText and NewDates make them.
type Column struct {
	Name string     `json:"name"`
	Kind ColumnKind `json:"kind"`
	// Numbers of a Number, NaN where missing; of a Date, seconds since 1970 in UTC.
	Numbers []float64 `json:"-" array:"numbers"`
	// Codes of a Category are places in Levels, below 0 where missing. The levels are different;
	// blanks around them and words for a missing value, such as NA, are read as in a file. A column
	// that TableOptions.Categories does not list may be judged to hold sentences, dates, truths or
	// names of the examples, as in a file too.
	Codes  []int32  `json:"-" array:"codes"`
	Levels []string `json:"levels,omitempty"`
	// Bytes has the values of a Text, UTF-8, one after another, and Ends where each ends.
	Bytes []byte  `json:"-" array:"bytes"`
	Ends  []int64 `json:"-" array:"ends"`
}

// NewNumbers returns a column of numbers, NaN where they are missing. It shares values.
func NewNumbers(name string, values []float64) Column {
	return Column{Name: name, Kind: Number, Numbers: values}
}

// NewCategory returns a column of levels; missing, if it is given, is the value that means none.
func NewCategory(name string, values []string, missing ...string) Column {
	c, code := Column{Name: name, Kind: Category}, map[string]int32{}
	for _, v := range values {
		k, seen := code[v]
		switch {
		case slices.Contains(missing, v):
			k = -1
		case !seen:
			k = int32(len(c.Levels))
			code[v], c.Levels = k, append(c.Levels, v)
		}
		c.Codes = append(c.Codes, k)
	}
	return c
}

// NewText returns a column of free texts; an empty one is missing.
func NewText(name string, values []string) Column {
	c := Column{Name: name, Kind: Text}
	for _, v := range values {
		c.Bytes = append(c.Bytes, v...)
		c.Ends = append(c.Ends, int64(len(c.Bytes)))
	}
	return c
}

// NewDates returns a column of times, the zero time where they are missing.
func NewDates(name string, values []time.Time) Column {
	c := Column{Name: name, Kind: Date}
	for _, v := range values {
		seconds := math.NaN()
		if !v.IsZero() {
			seconds = float64(v.UnixMicro()) / 1e6
		}
		c.Numbers = append(c.Numbers, seconds)
	}
	return c
}

// rows returns the number of values.
func (c *Column) rows() int { return max(len(c.Numbers), len(c.Codes), len(c.Ends)) }

// Matrix is Rows × Columns numbers, row-major, of one type. With Starts it is sparse, in compressed
// rows: Starts has Rows+1 places in Indices, which are columns from 0, and the numbers. It is
// computed with as a dense one if one number in eight or more is stored.
type Matrix struct {
	Rows    int       `json:"rows"`
	Columns int       `json:"columns"`
	Names   []string  `json:"names,omitempty"` // of the columns; nil for none
	Float32 []float32 `json:"-" array:"float32"`
	Float64 []float64 `json:"-" array:"float64"`
	Uint8   []uint8   `json:"-" array:"uint8"`
	Starts  []int64   `json:"-" array:"starts"`
	Indices []int32   `json:"-" array:"indices"`
}

// Check returns the fault of data of which not all parts fit together.
func (d *Data) Check() error {
	switch given := d.given(); {
	case given != 1:
		return conflict("data", fmt.Sprintf("%d of Table, Matrix and FromDataset", given), "one")
	case d.Table != nil:
		if err := checkParameters(&d.Table.TableOptions); err != nil {
			return err
		}
		return d.Table.check()
	case d.Matrix != nil:
		return d.Matrix.check()
	}
	return nil
}

func (d *Data) given() (n int) {
	for _, is := range []bool{d.Table != nil, d.Matrix != nil, d.set != nil} {
		if is {
			n++
		}
	}
	return n
}

func (t *Table) check() error {
	if len(t.Columns) == 0 {
		return invalid("data", "a table without columns", "at least one")
	}
	seen, names := map[string]bool{}, []string(nil)
	for k := range t.Columns {
		c := &t.Columns[k]
		names = append(names, c.Name)
		wrong := func(got, want string) error {
			return &Fault{Kind: Invalid, Option: "data", Where: fmt.Sprintf("column %q", c.Name), Got: got,
				Want: want}
		}
		if seen[c.Name] {
			return wrong("a name that another column has", "a name of its own")
		}
		seen[c.Name] = true
		if n := c.rows(); n != t.Columns[0].rows() || n == 0 {
			return wrong(fmt.Sprintf("%d values", n), fmt.Sprintf("%d, as in column %q, and at least one",
				t.Columns[0].rows(), t.Columns[0].Name))
		}
		for i, v := range c.Numbers {
			if math.IsInf(v, 0) {
				return wrong(fmt.Sprintf("%v in row %d", v, i), "a finite number, or NaN where it is missing")
			}
		}
		for i, code := range c.Codes {
			if int(code) >= len(c.Levels) {
				return wrong(fmt.Sprintf("code %d in row %d", code, i), fmt.Sprintf("less than %d levels",
					len(c.Levels)))
			}
		}
	}
	for _, asked := range []struct {
		option string
		names  []string
		kinds  []ColumnKind
	}{{"text", t.Text, []ColumnKind{Category, Text}}, {"categories", t.Categories,
		[]ColumnKind{Category, Number}}} {
		for _, name := range asked.names {
			switch k := slices.Index(names, name); {
			case k < 0:
				return invalid(asked.option, strconv.Quote(name), "one of the columns "+quote.List(names))
			case !slices.Contains(asked.kinds, t.Columns[k].Kind):
				return invalid(asked.option, fmt.Sprintf("%q, a column of the kind %s", name,
					t.Columns[k].Kind), "a column of strings")
			}
		}
	}
	return nil
}

func (m *Matrix) check() error {
	given, values := 0, 0
	for _, n := range []int{len(m.Float32), len(m.Float64), len(m.Uint8)} {
		if values = max(values, n); n > 0 {
			given++
		}
	}
	wanted := m.Rows * m.Columns
	if m.Starts != nil {
		if wanted = len(m.Indices); len(m.Starts) != m.Rows+1 {
			return invalid("data", fmt.Sprintf("%d starts", len(m.Starts)), fmt.Sprint(m.Rows+1))
		}
	}
	switch {
	case m.Rows < 1 || m.Columns < 1:
		return invalid("data", fmt.Sprintf("%d × %d", m.Rows, m.Columns), "a row and a column, or more")
	case given > 1 || values != wanted:
		return invalid("data", fmt.Sprintf("%d numbers of %d types", values, given),
			fmt.Sprintf("%d of one type", wanted))
	case m.Names != nil && len(m.Names) != m.Columns:
		return invalid("data", fmt.Sprintf("%d names", len(m.Names)), fmt.Sprint(m.Columns))
	}
	return nil
}

// Encoding returns how columns become features, as package file takes it too.
func (o *TableOptions) Encoding() features.EncodeOptions {
	e := features.EncodeOptions{Categories: o.Categories, Missing: cmp.Or(o.Missing,
		dataset.MissingAuto), Levels: o.Levels, Knots: features.UsualKnots,
		Text: features.TextOptions{Columns: o.Text, Features: o.TextFeatures, MinExamples: o.TextMinDF,
			Words: o.TextNgrams}}
	if o.Knots != nil {
		e.Knots = *o.Knots
	}
	return e
}
