package umagpu

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

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
		if err := t.Columns[k].beyond(&c); err != nil {
			return err
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
			if err := t.Columns[j].beyond(&c); err != nil {
				return err
			}
			gaps := lists.Count(c.Numbers, func(v float32) bool { return v != v })
			if gaps > 0 && want.Mean == nil {
				return &Fault{Kind: Invalid, Option: "data", Where: "column " + strconv.Quote(want.Name),
					Got: fmt.Sprintf("%d missing values", gaps), Want: "none, as in the training data"}
			}
		}
		columns.Columns = append(columns.Columns, c)
	}
	notes, warnings := features.Unfamiliar(columns, known, nil)
	set.Notes, set.Warnings = append(set.Notes, notes...), append(set.Warnings, warnings...)
	return t.enter(ctx, set, columns, known)
}

// beyond returns the fault of the first number of a column, as is, that float32 does not hold.
func (c *Column) beyond(is *dataset.TableColumn) error {
	i := slices.IndexFunc(is.Numbers, func(v float32) bool { return math.IsInf(float64(v), 0) })
	if i < 0 {
		return nil
	}
	values, _ := c.numbers(is.Dates)
	return &Fault{Kind: Invalid, Option: "data", Row: &i, Where: "column " + strconv.Quote(c.Name),
		Got: fmt.Sprint(values[i]), Want: "a number within the range of float32"}
}

// judged returns column k as a training takes it: strings as a file's words are judged.
func (t *Table) judged(set *dataset.Dataset, k int) dataset.TableColumn {
	c := &t.Columns[k]
	is := dataset.TableColumn{Name: c.Name, Position: k + 1, Kind: string(c.Kind)}
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
			set.Notes = append(set.Notes, features.AsideNote(&is, judged.Why))
		case judged.Why != "":
			set.Notes = append(set.Notes, fmt.Sprintf("%s %s", &is, judged.Why))
		}
		switch is.Kind {
		case dataset.KindNumber:
			values, _ := c.numbers(is.Dates) // a word among them is missing
			set.Notes = append(set.Notes, learnNumbers(&is, values, len(t.Columns))...)
		case dataset.KindText:
			is.Texts = c.texts()
		}
		if is.Kind != dataset.KindCategory {
			is.Codes, is.Levels = nil, nil
		}
	default:
		is.Kind, is.Dates = dataset.KindNumber, c.Kind == Date
		set.Notes = append(set.Notes, learnNumbers(&is, c.Numbers, len(t.Columns))...)
	}
	return is
}

// learnNumbers gives one of d columns its numbers, behind an origin if they have one; it returns
// notes.
func learnNumbers(is *dataset.TableColumn, values []float64, d int) (notes []string) {
	span := []features.Span{features.SpanOf(d)}
	for _, v := range values {
		span[0].Add(v)
	}
	is.Origin = span[0].Origin()
	is.Numbers = rounded(values, is.Origin)
	return features.OriginNotes(span, []float64{is.Origin}, func(int) string { return is.String() })
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
