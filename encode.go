package umagpu

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// examples returns raw examples of data that a model is to be learned from.
func (d *Data) examples(ctx context.Context) (*dataset.Dataset, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	if d.set != nil {
		return d.copied(), nil
	}
	set := d.empty()
	if d.Table != nil {
		return set, d.Table.learn(ctx, set)
	}
	return set, d.Matrix.learn(ctx, set)
}

// copied returns a copy of the data of FromDataset, whose labels may change. Their reader has told
// their notes.
func (d *Data) copied() *dataset.Dataset {
	some := *d.set
	some.Notes, some.Warnings = nil, nil
	return &some
}

// empty returns a data set that is to be filled.
func (d *Data) empty() *dataset.Dataset {
	return &dataset.Dataset{Found: dataset.Found{Path: cmp.Or(d.Name, "data")}}
}

// examplesFor returns raw examples of the features of m. Columns are found by name where both have
// names; those that m does not know are left out, with a note.
func (d *Data) examplesFor(ctx context.Context, m *model.Model) (*dataset.Dataset, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	f := m.Meta.Features
	known := f.Encoding
	if d.set != nil {
		if set := d.set; set.Prepared == nil && !slices.Equal(set.Encoding.Origins(), known.Origins()) {
			return nil, unfit("numbers behind other origins than in the training data",
				"data that were read for the model")
		}
		return d.copied(), nil
	}
	if known == nil {
		known = &dataset.Encoding{Missing: dataset.MissingError,
			Columns: slices.Repeat([]dataset.Column{{Kind: dataset.KindNumber}}, f.Count)}
		for j, name := range f.Names {
			known.Columns[j].Name = name
		}
	}
	set := d.empty()
	if d.Table != nil {
		return set, d.Table.encode(ctx, set, known)
	}
	return set, d.Matrix.encode(ctx, set, known, f.Count)
}

func unfit(got, want string) *Fault {
	return &Fault{Kind: Unfit, Option: "data", Got: got, Want: want}
}

// order returns which of the names have are those of the columns that known wants, by position
// where one of both has no names; -1 for a column that was set aside. Notes in set tell of others.
func order(set *dataset.Dataset, have []string, width int, known *dataset.Encoding) ([]int, error) {
	wanted := known.ColumnNames()
	if wanted == nil || have == nil {
		if width != len(known.Columns) {
			return nil, unfit(fmt.Sprintf("%d columns", width), fmt.Sprintf("%d, as in the training data",
				len(known.Columns)))
		}
		if wanted != nil || have != nil {
			set.Notes = append(set.Notes, "columns are matched by position, as the data or the model have "+
				"no names")
		}
		at := make([]int, width)
		for k := range at {
			at[k] = k
		}
		return at, nil
	}
	place := make(map[string]int, len(have))
	for j, name := range have {
		place[name] = j
	}
	var at []int
	for _, c := range known.Columns {
		j, found := place[c.Name]
		switch {
		case found:
			delete(place, c.Name)
		case c.Kind == dataset.KindAside:
			j = -1
		default:
			return nil, unfit("the columns "+quote.List(have), "also "+strconv.Quote(c.Name)+
				", which the model was trained on")
		}
		at = append(at, j)
	}
	var more []string
	for _, name := range have {
		if _, left := place[name]; left {
			more = append(more, name)
		}
	}
	if more != nil {
		set.Notes = append(set.Notes, "ignored are columns that the model does not know: "+
			quote.List(more))
	}
	return at, nil
}

// learn enters the numbers in set, and what a model keeps of its columns.
func (m *Matrix) learn(ctx context.Context, set *dataset.Dataset) error {
	if m.Starts != nil {
		return m.sparse(set)
	}
	isNaN := func(v float64) bool { return v != v }
	if slices.ContainsFunc(m.Float64, isNaN) || slices.ContainsFunc(m.Float32,
		func(v float32) bool { return v != v }) {
		return m.table().learn(ctx, set)
	}
	var spans []features.Span
	if m.Float64 != nil {
		spans = features.SpansOf(m.Columns)
		watched := make([]int, m.Columns)
		for j := range watched {
			watched[j] = j
		}
		for row := range slices.Chunk(m.Float64, m.Columns) {
			watched = slices.DeleteFunc(watched, func(j int) bool { return !spans[j].Add(row[j]) })
		}
	}
	origins := features.Origins(spans)
	describe := func(j int) string { return dataset.ColumnText(j+1, m.name(j)) }
	for j, origin := range origins {
		if origin != 0 {
			set.Notes = append(set.Notes, features.OriginNote(describe(j), origin))
		}
	}
	if note := features.MergedNote(spans, origins, describe); note != "" {
		set.Notes = append(set.Notes, note)
	}
	var known *dataset.Encoding
	if origins != nil {
		known = features.Plain(m.Names, origins, nil)
	}
	if err := m.fill(set, nil, known); err != nil {
		return err
	}
	if set.Features = m.Names; m.Names != nil || origins != nil {
		set.Encoding = features.Plain(m.Names, origins, features.Means(set.Examples))
	}
	store(&set.Examples)
	return nil
}

// store changes the form of examples to the one that a file of them is read in.
func store(e *dataset.Examples) {
	stored := len(e.Values)
	for _, v := range e.X {
		if math.Float32bits(v) != 0 {
			stored++
		}
	}
	if features.SparseIsBetter(stored, e.N, e.D) {
		*e = e.Compressed()
	} else {
		*e = e.Dense()
	}
}

// encode enters the features that known makes of the numbers in set, or the numbers that are count
// features already.
func (m *Matrix) encode(ctx context.Context, set *dataset.Dataset, known *dataset.Encoding,
	count int) error {
	if m.Columns == count && len(known.Columns) != count && m.Starts == nil {
		return m.fill(set, nil, nil)
	}
	if m.Starts == nil && !known.Plain() {
		return m.table().encode(ctx, set, known)
	}
	at, err := order(set, m.Names, m.Columns, known)
	if err != nil {
		return err
	}
	same := len(at) == m.Columns
	for k, j := range at {
		same = same && k == j
	}
	if same {
		at = nil
	}
	switch {
	case m.Starts != nil && known.Plain() && known.Origins() == nil: // zeros stay zeros
		if err := m.sparse(set); err != nil || same {
			return err
		}
		if err := set.MatchFeatures(known.ColumnNames()); err != nil {
			return &Fault{Kind: Unfit, Option: "data", Cause: err}
		}
		return nil
	case m.Starts != nil:
		dense, err := m.dense()
		if err != nil {
			return err
		}
		return dense.encode(ctx, set, known, count)
	}
	return m.fill(set, at, known)
}

// table returns the columns of a dense matrix.
func (m *Matrix) table() *Table {
	t := &Table{Columns: make([]Column, m.Columns)}
	for j := range t.Columns {
		t.Columns[j] = NewNumbers(m.name(j), make([]float64, m.Rows))
		for i := range m.Rows {
			t.Columns[j].Numbers[i] = m.value(i*m.Columns + j)
		}
	}
	return t
}

// dense returns a dense copy of a sparse matrix.
func (m *Matrix) dense() (*Matrix, error) {
	what := fmt.Sprintf("a dense copy of %d examples × %d features", m.Rows, m.Columns)
	if err := memory.Check(memory.Product(m.Rows, m.Columns, 8), what); err != nil {
		return nil, err
	}
	x := make([]float64, m.Rows*m.Columns)
	for i := range m.Rows {
		for k := m.Starts[i]; k < m.Starts[i+1]; k++ {
			x[i*m.Columns+int(m.Indices[k])] = m.value(int(k))
		}
	}
	return &Matrix{Rows: m.Rows, Columns: m.Columns, Names: m.Names, Float64: x}, nil
}

// value returns element i of the numbers.
func (m *Matrix) value(i int) float64 {
	switch {
	case m.Float64 != nil:
		return m.Float64[i]
	case m.Float32 != nil:
		return float64(m.Float32[i])
	}
	return float64(m.Uint8[i])
}

func (m *Matrix) name(j int) string {
	if m.Names == nil {
		return ""
	}
	return m.Names[j]
}

// fill enters the numbers of a dense matrix in set: of the columns at, nil for all, behind the
// origins of known, a plain encoding or nil, with its means for missing ones.
func (m *Matrix) fill(set *dataset.Dataset, at []int, known *dataset.Encoding) error {
	origins := known.Origins()
	if at == nil && origins == nil && m.Float32 != nil && !slices.ContainsFunc(m.Float32, odd) {
		set.Examples = dataset.Examples{N: m.Rows, D: m.Columns, X: m.Float32}
		set.Features, set.Encoding = m.Names, known
		return nil
	}
	width := m.Columns
	if at != nil {
		width = len(at)
	}
	gaps := make([]int, width)
	x := make([]float32, m.Rows*width)
	rows := m.Rows
	if at == nil && origins == nil && (narrowed(x, m.Float64) || narrowed(x, m.Float32) ||
		narrowed(x, m.Uint8)) {
		rows = 0 // are left
	}
	for i := range rows {
		for k := range width {
			j := k
			if at != nil {
				j = at[k]
			}
			v := m.value(i*m.Columns + j)
			origin := 0.0
			if origins != nil {
				origin = origins[k]
			}
			f := features.Rounded(v, origin)
			switch {
			case !odd(f):
			case v == v || known == nil || known.Columns[k].Mean == nil:
				return m.fault(i, j, v)
			default:
				f = *known.Columns[k].Mean
				gaps[k]++
			}
			x[i*width+k] = f
		}
	}
	set.Examples = dataset.Examples{N: m.Rows, D: width, X: x}
	if set.Features, set.Encoding = m.Names, known; known != nil {
		set.Features = known.FeatureNames()
	}
	for k, n := range gaps {
		if n > 0 {
			set.Notes = append(set.Notes, features.MeanNote(dataset.ColumnText(k+1,
				known.Columns[k].Name), n))
		}
	}
	return nil
}

// narrowed fills x with values, and reports whether they are there and engines compute with them.
func narrowed[T uint8 | float32 | float64](x []float32, values []T) bool {
	var bad atomic.Bool
	parallel.Ranges(len(values), 1<<16, func(from, to int) {
		x, some := x[from:to], false
		for i, v := range values[from:to] {
			x[i] = float32(v)
			some = some || odd(x[i])
		}
		if some {
			bad.Store(true)
		}
	})
	return values != nil && !bad.Load()
}

// odd reports whether no engine computes with v: it is not finite, or subnormal.
func odd(v float32) bool {
	bits := math.Float32bits(v) & 0x7fffffff
	return bits >= 0x7f800000 || bits != 0 && bits < 0x00800000
}

// fault is what is wrong with a number that is not finite.
func (m *Matrix) fault(row, column int, v float64) error {
	where := fmt.Sprintf("column %d", column)
	if m.Names != nil {
		where = "column " + strconv.Quote(m.Names[column])
	}
	return &Fault{Kind: Invalid, Option: "data", Row: &row, Where: where, Got: fmt.Sprint(v),
		Want: "a finite number within the range of float32"}
}

// sparse enters a sparse matrix in set.
func (m *Matrix) sparse(set *dataset.Dataset) error {
	x := m.Float32
	if x == nil || slices.ContainsFunc(x, odd) {
		x = make([]float32, len(m.Indices))
		for i := range x {
			v := m.value(i)
			if x[i] = features.Rounded(v, 0); odd(x[i]) {
				row, _ := slices.BinarySearch(m.Starts[1:], int64(i+1))
				return m.fault(row, int(m.Indices[i]), v)
			}
		}
	}
	set.Features = m.Names
	set.Examples = dataset.Examples{N: m.Rows, D: m.Columns, Starts: m.Starts, Columns: m.Indices,
		Values: x}
	if err := set.Examples.Check(); err != nil {
		return &Fault{Kind: Invalid, Option: "data", Cause: err}
	}
	store(&set.Examples)
	return nil
}

// learn enters the features in set by an encoding that is learned.
func (t *Table) learn(ctx context.Context, set *dataset.Dataset) error {
	columns := &dataset.Table{N: t.Columns[0].rows()}
	gaps, plain := false, true
	for k := range t.Columns {
		c := t.judged(set, k)
		missing := slices.IndexFunc(c.Numbers, func(v float32) bool { return v != v })
		if gaps = gaps || missing >= 0; missing >= 0 && t.Missing == dataset.MissingError {
			return &Fault{Kind: Invalid, Option: "data", Row: &missing, Got: "a missing value",
				Where: "column " + strconv.Quote(c.Name), Want: "a number",
				Advice: features.ErrMissing.Error()}
		}
		plain = plain && c.Kind == dataset.KindNumber && !c.Dates
		columns.Columns = append(columns.Columns, c)
	}
	o := t.TableOptions.Encoding()
	if plain && !gaps && (o.Missing == dataset.MissingAuto || o.Missing == dataset.MissingError) {
		return t.plain(ctx, set, columns, o.Missing)
	}
	e, notes, err := features.Learn(columns, o)
	if err != nil {
		return &Fault{Kind: Unfit, Option: "data", Cause: err}
	}
	set.Notes = append(set.Notes, notes...)
	return t.enter(ctx, set, columns, e)
}

// plain enters columns of numbers in set as they are, as a file of them is read.
func (t *Table) plain(ctx context.Context, set *dataset.Dataset, columns *dataset.Table,
	missing string) error {
	names, origins := []string(nil), make([]float64, len(columns.Columns))
	for k, c := range columns.Columns {
		names, origins[k] = append(names, c.Name), c.Origin
	}
	e := features.Plain(names, origins, nil)
	if err := t.enter(ctx, set, columns, e); err != nil {
		return err
	}
	switch {
	case missing == dataset.MissingAuto:
		set.Encoding = features.Plain(e.ColumnNames(), origins, features.Means(set.Examples))
	case e.Origins() == nil:
		set.Encoding = nil
	}
	return nil
}

// enter enters the features that e makes of columns in set.
func (t *Table) enter(ctx context.Context, set *dataset.Dataset, columns *dataset.Table,
	e *dataset.Encoding) error {
	notes, err := features.Fill(ctx, set, columns, e, t.Storage)
	set.Notes = append(set.Notes, notes...)
	return err
}

// encode enters the features that known makes of the table in set.
func (t *Table) encode(ctx context.Context, set *dataset.Dataset, known *dataset.Encoding) error {
	names := make([]string, len(t.Columns))
	for k := range names {
		names[k] = t.Columns[k].Name
	}
	if !slices.ContainsFunc(names, func(name string) bool { return name != "" }) {
		names = nil
	}
	at, err := order(set, names, len(t.Columns), known)
	if err != nil {
		return err
	}
	columns := &dataset.Table{N: t.Columns[0].rows()}
	for k, j := range at {
		want := &known.Columns[k]
		c := dataset.TableColumn{Name: want.Name, Kind: want.Kind}
		if want.Kind != dataset.KindAside {
			if c, err = t.Columns[j].as(want, j+1); err != nil {
				return err
			}
			if gaps := missingOf(c.Numbers); gaps > 0 && want.Mean == nil {
				return &Fault{Kind: Invalid, Option: "data", Where: "column " + strconv.Quote(want.Name),
					Got: fmt.Sprintf("%d missing values", gaps), Want: "none, as in the training data"}
			} else if gaps > 0 && !want.Indicator {
				set.Notes = append(set.Notes, features.MeanNote(c.String(), gaps))
			}
			set.Warnings = append(set.Warnings, unseen(&c, want)...)
		}
		columns.Columns = append(columns.Columns, c)
	}
	return t.enter(ctx, set, columns, known)
}

func missingOf(numbers []float32) (n int) {
	for _, v := range numbers {
		if v != v {
			n++
		}
	}
	return n
}

// unseen tells of levels of c that the training data did not have.
func unseen(c *dataset.TableColumn, want *dataset.Column) (warnings []string) {
	known := map[string]bool{}
	for _, level := range want.Levels {
		known[level] = true
	}
	used := make([]bool, len(c.Levels))
	for _, code := range c.Codes {
		if code >= 0 {
			used[code] = true
		}
	}
	var new []string
	for code, level := range c.Levels {
		if used[code] && !known[level] {
			new = append(new, level)
		}
	}
	if len(new) > 0 {
		warnings = append(warnings, fmt.Sprintf("column %q has levels that the training data did not "+
			"have, %s; they count as none of its levels", c.Name, quote.List(new)))
	}
	return warnings
}

// judged returns column k as a training takes it: strings as a file's words are judged.
func (t *Table) judged(set *dataset.Dataset, k int) dataset.TableColumn {
	c := &t.Columns[k]
	is := dataset.TableColumn{Name: c.Name, Position: k + 1, Kind: string(c.Kind)}
	note := func(text string) {
		if text != "" {
			set.Notes = append(set.Notes, text)
		}
	}
	switch {
	case c.Kind == Text || slices.Contains(t.Text, c.Name):
		is.Kind, is.Texts = dataset.KindText, c.texts()
	case slices.Contains(t.Categories, c.Name):
		is.Kind, is.Chosen = dataset.KindCategory, true
		is.Codes, is.Levels = c.levels()
	case c.Kind == Category:
		is.Codes, is.Levels = c.levels()
		judged := tallied(is.Codes, is.Levels)
		is.Kind, is.Dates = judged.Kind, judged.Dates
		switch {
		case is.Kind == dataset.KindAside:
			note(features.AsideNote(&is, judged.Why))
		case judged.Why != "":
			note(fmt.Sprintf("%s %s", &is, judged.Why))
		}
		switch is.Kind {
		case dataset.KindNumber:
			values, _ := c.numbers(is.Dates) // a word among them is missing
			note(learnNumbers(&is, values, len(t.Columns)))
		case dataset.KindText:
			is.Texts = c.texts()
		}
		if is.Kind != dataset.KindCategory {
			is.Codes, is.Levels = nil, nil
		}
	default:
		is.Kind, is.Dates = dataset.KindNumber, c.Kind == Date
		note(learnNumbers(&is, c.Numbers, len(t.Columns)))
	}
	return is
}

// learnNumbers gives one of d columns its numbers, behind an origin if they have one; it returns
// notes.
func learnNumbers(is *dataset.TableColumn, values []float64, d int) (note string) {
	span := []features.Span{features.SpanOf(d)}
	for _, v := range values {
		span[0].Add(v)
	}
	origins := features.Origins(span)
	var notes []string
	if origins != nil {
		is.Origin = origins[0]
		notes = append(notes, features.OriginNote(is.String(), is.Origin))
	}
	if merged := features.MergedNote(span, origins, func(int) string { return is.String() }); merged !=
		"" {
		notes = append(notes, merged)
	}
	is.Numbers = rounded(values, is.Origin)
	return strings.Join(notes, "; ")
}

// rounded returns numbers behind an origin.
func rounded(values []float64, origin float64) []float32 {
	numbers := make([]float32, len(values))
	for i, v := range values {
		numbers[i] = features.Rounded(v, origin)
	}
	return numbers
}

// tallied judges strings.
func tallied(codes []int32, levels []string) features.Judged {
	counts := make([]int, len(levels))
	for _, code := range codes {
		if code >= 0 {
			counts[code]++
		}
	}
	var t features.Tally
	for code, level := range levels {
		if counts[code] > 0 {
			t.Count([]byte(level), counts[code])
		}
	}
	return t.Texts()
}

// levels returns codes and levels: those of a Category as they are, since a type has told what is
// missing; of numbers their shortest texts.
func (c *Column) levels() (codes []int32, levels []string) {
	if c.Kind == Category {
		return c.Codes, c.Levels
	}
	code := map[string]int32{}
	for _, v := range c.Numbers {
		text := strconv.FormatFloat(v, 'f', -1, 64)
		at, seen := code[text]
		switch {
		case math.IsNaN(v):
			at = -1
		case !seen:
			at = int32(len(levels))
			code[text], levels = at, append(levels, text)
		}
		codes = append(codes, at)
	}
	return codes, levels
}

// numbers returns the values of a column as numbers, NaN for words, of which it returns one.
func (c *Column) numbers(dates bool) (values []float64, word string) {
	if c.Kind != Category {
		return c.Numbers, ""
	}
	codes, levels := c.levels()
	become := make([]float64, len(levels))
	for k, level := range levels {
		text := []byte(strings.Trim(level, " \t"))
		v, ok := features.ParseWord(text, dates)
		if become[k] = v; !ok || features.IsMissing(text) {
			if become[k] = math.NaN(); !ok && !features.IsMissing(text) {
				word = level
			}
		}
	}
	values = make([]float64, len(codes))
	for i, code := range codes {
		if values[i] = math.NaN(); code >= 0 {
			values[i] = become[code]
		}
	}
	return values, word
}

// as returns the column as a model wants it.
func (c *Column) as(want *dataset.Column, position int) (dataset.TableColumn, error) {
	is := dataset.TableColumn{Name: c.Name, Position: position, Kind: want.Kind, Origin: want.Origin,
		Dates: want.Dates}
	wanted := want.Kind
	if want.Dates {
		wanted = "date"
	}
	wrong := func(got, wanted string) (dataset.TableColumn, error) {
		return is, &Fault{Kind: Unfit, Option: "data", Where: fmt.Sprintf("column %q", c.Name), Got: got,
			Want: wanted + ", as in the training data"}
	}
	switch {
	case want.Kind == dataset.KindText && c.Kind != Number && c.Kind != Date:
		is.Texts = c.texts()
	case want.Kind == dataset.KindCategory && (c.Kind == Category || c.Kind == Number):
		is.Codes, is.Levels = c.levels()
	case want.Kind == dataset.KindNumber && (c.Kind == Category || (c.Kind == Date) == want.Dates &&
		c.Kind != Text):
		values, word := c.numbers(want.Dates)
		if word != "" {
			return wrong(strconv.Quote(word), wanted)
		}
		is.Numbers = rounded(values, want.Origin)
	default:
		return wrong("a column of the kind "+string(c.Kind), wanted)
	}
	return is, nil
}

// texts returns the values of a column of strings as texts.
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
