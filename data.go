package umagpu

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/model"
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
	// Codes of a Category are places in Levels, below 0 where missing. The levels are different.
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
	seen := map[string]bool{}
	for k := range t.Columns {
		c := &t.Columns[k]
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

// examples returns raw examples of data that a model is to be learned from.
func (d *Data) examples(ctx context.Context) (*dataset.Dataset, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	if d.set != nil {
		return d.copied(), nil
	}
	set := &dataset.Dataset{Found: dataset.Found{Path: cmp.Or(d.Name, "data")}}
	var err error
	if d.Table != nil {
		err = d.Table.encode(ctx, set, nil)
	} else {
		err = d.Matrix.fill(set)
	}
	return set, err
}

// copied returns a copy of the data of FromDataset, whose labels may change. Their reader has told
// their notes.
func (d *Data) copied() *dataset.Dataset {
	some := *d.set
	some.Notes, some.Warnings = nil, nil
	return &some
}

// examplesFor returns raw examples of the features of m. The columns of a Table are found by name;
// those that m does not know are left out, with a note.
func (d *Data) examplesFor(ctx context.Context, m *model.Model) (*dataset.Dataset, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	f := m.Meta.Features
	if d.set != nil {
		return d.copied(), nil
	}
	set := &dataset.Dataset{Found: dataset.Found{Path: cmp.Or(d.Name, "data")}}
	if d.Table != nil && f.Encoding != nil {
		return set, d.Table.encode(ctx, set, f.Encoding)
	}
	if d.Table != nil {
		if err := d.Table.encode(ctx, set, nil); err != nil {
			return nil, err
		}
	} else if err := d.Matrix.fill(set); err != nil {
		return nil, err
	}
	if f.Names != nil && set.Features != nil {
		if err := set.MatchFeatures(f.Names); err != nil {
			return nil, &Fault{Kind: Unfit, Option: "data", Cause: err}
		}
	}
	if set.D != f.Count {
		return nil, &Fault{Kind: Unfit, Option: "data", Got: fmt.Sprintf("%d features", set.D),
			Want: fmt.Sprintf("%d, as the model was trained on", f.Count)}
	}
	return set, nil
}

// fill enters the numbers in set.
func (m *Matrix) fill(set *dataset.Dataset) error {
	x := m.Float32
	switch {
	case m.Float64 != nil:
		x = make([]float32, len(m.Float64))
		for i, v := range m.Float64 {
			x[i] = rounded(v)
		}
	case m.Uint8 != nil:
		x = make([]float32, len(m.Uint8))
		for i, v := range m.Uint8 {
			x[i] = float32(v)
		}
	case slices.ContainsFunc(x, func(v float32) bool { return v != rounded(v) && v == v }):
		x = slices.Clone(x)
		for i, v := range x {
			x[i] = rounded(v)
		}
	}
	for i, v := range x {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			row, column := i/m.Columns, i%m.Columns
			if m.Starts != nil {
				row, _ = slices.BinarySearch(m.Starts[1:], int64(i+1))
				column = int(m.Indices[i])
			}
			return &Fault{Kind: Invalid, Option: "data", Row: &row, Where: m.column(column),
				Got: m.at(i), Want: "a finite number within the range of float32"}
		}
	}
	set.Features = m.Names
	if set.N, set.D = m.Rows, m.Columns; m.Starts == nil {
		set.X = x
		return nil
	}
	set.Starts, set.Columns, set.Values = m.Starts, m.Indices, x
	if err := set.Examples.Check(); err != nil {
		return &Fault{Kind: Invalid, Option: "data", Cause: err}
	}
	if !features.SparseIsBetter(len(x), m.Rows, m.Columns) { // as files are read
		set.Examples = set.Examples.Dense()
	}
	return nil
}

func (m *Matrix) column(j int) string {
	if m.Names != nil {
		return "column " + strconv.Quote(m.Names[j])
	}
	return fmt.Sprintf("column %d", j)
}

func (m *Matrix) at(i int) string {
	if m.Float64 != nil {
		return fmt.Sprint(m.Float64[i])
	}
	return fmt.Sprint(m.Float32[i])
}

// rounded returns the nearest float32, and 0 for subnormal values, which no engine computes with.
func rounded[T float32 | float64](v T) float32 {
	const least = 0x1p-126
	f := float32(v)
	if f != 0 && f > -least && f < least {
		return 0
	}
	return f
}

// encode enters the features of the table in set, by the encoding of a model, or by one that is
// learned.
func (t *Table) encode(ctx context.Context, set *dataset.Dataset, known *dataset.Encoding) error {
	columns, err := t.columns(set, known)
	if err != nil {
		return err
	}
	e := known
	if e == nil {
		var notes []string
		if e, notes, err = features.Learn(columns, t.TableOptions.Encoding()); err != nil {
			return &Fault{Kind: Unfit, Option: "data", Cause: err}
		}
		set.Notes = append(set.Notes, notes...)
	}
	notes, err := features.Fill(ctx, set, columns, e, t.Storage)
	set.Notes = append(set.Notes, notes...)
	return err
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

// columns returns the columns as package dataset has them, in the order of the encoding if there is
// one. Notes in set tell of columns and levels that it does not know.
func (t *Table) columns(set *dataset.Dataset, known *dataset.Encoding) (*dataset.Table, error) {
	all := &dataset.Table{N: t.Columns[0].rows()}
	if known == nil {
		for k := range t.Columns {
			c, err := t.column(k, "")
			if err != nil {
				return nil, err
			}
			all.Columns = append(all.Columns, c)
		}
		return all, nil
	}
	at := map[string]int{}
	for k := range t.Columns {
		at[t.Columns[k].Name] = k
	}
	for k := range known.Columns {
		want := &known.Columns[k]
		k, found := at[want.Name]
		if delete(at, want.Name); !found && want.Kind != dataset.KindAside {
			return nil, &Fault{Kind: Unfit, Option: "data", Got: "no column " + strconv.Quote(want.Name),
				Want: "the columns that the model was trained on"}
		}
		c := dataset.TableColumn{Name: want.Name, Kind: want.Kind}
		if want.Kind != dataset.KindAside {
			var err error
			if c, err = t.column(k, want.Kind); err != nil {
				return nil, err
			}
			set.Warnings = append(set.Warnings, unseen(&c, want)...)
		}
		all.Columns = append(all.Columns, c)
	}
	if len(at) > 0 {
		set.Notes = append(set.Notes, fmt.Sprintf("%d columns that the model does not know are left out",
			len(at)))
	}
	return all, nil
}

// unseen tells of levels of c that the training data did not have.
func unseen(c *dataset.TableColumn, want *dataset.Column) (warnings []string) {
	var new []string
	for _, level := range c.Levels {
		if !slices.Contains(want.Levels, level) {
			new = append(new, level)
		}
	}
	if c.Kind == dataset.KindCategory && len(new) > 0 {
		warnings = append(warnings, fmt.Sprintf("column %q has %d levels that the training data did not "+
			"have, such as %q; they count as none of its levels", c.Name, len(new), new[0]))
	}
	return warnings
}

// column returns column k, which a model knows as one of a kind, or a training takes as it is if
// that is "".
func (t *Table) column(k int, kind string) (dataset.TableColumn, error) {
	c := &t.Columns[k]
	is := dataset.TableColumn{Name: c.Name, Position: k + 1, Kind: string(c.Kind)}
	switch c.Kind {
	case Number, Date:
		is.Kind = dataset.KindNumber
		is.Numbers = make([]float32, len(c.Numbers))
		for i, v := range c.Numbers {
			is.Numbers[i] = rounded(v)
		}
	case Category:
		is.Codes, is.Levels = c.Codes, c.Levels
		is.Chosen = slices.Contains(t.Categories, c.Name)
	case Text:
		is.Texts = dataset.Texts{Bytes: c.Bytes, Ends: c.Ends}
	}
	if slices.Contains(t.Text, c.Name) && c.Kind == Category || kind == dataset.KindText {
		is.Kind, is.Texts = dataset.KindText, c.texts()
		is.Codes, is.Levels = nil, nil
	}
	if kind != "" && is.Kind != kind {
		return is, &Fault{Kind: Unfit, Option: "data", Where: fmt.Sprintf("column %q", c.Name),
			Got: string(c.Kind), Want: kind + ", as in the training data"}
	}
	return is, nil
}

// texts returns the values of a Category as texts.
func (c *Column) texts() dataset.Texts {
	if c.Kind != Category {
		return dataset.Texts{Bytes: c.Bytes, Ends: c.Ends}
	}
	var t dataset.Texts
	for _, code := range c.Codes {
		if code >= 0 {
			t.Bytes = append(t.Bytes, c.Levels[code]...)
		}
		t.Ends = append(t.Ends, int64(len(t.Bytes)))
	}
	return t
}
