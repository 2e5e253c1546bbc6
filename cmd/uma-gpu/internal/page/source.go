package page

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
)

// source returns what pages show of the data of a request.
func (o *Request) source(d *umagpu.Data, l *umagpu.Labels) *Source {
	if o.Source != nil {
		return o.Source
	}
	s := &Source{Labels: l.Codes, Text: -1}
	switch {
	case d.Table != nil:
		for j, c := range d.Table.Columns {
			s.Columns = append(s.Columns, c.Name)
			if s.Text < 0 && (c.Kind == umagpu.Text || slices.Contains(d.Table.Text, c.Name)) {
				s.Text = j
			}
		}
		s.Cell = func(i, j int) string { return cell(&d.Table.Columns[j], i) }
	case d.Matrix != nil && d.Matrix.Starts == nil:
		for j := range d.Matrix.Columns {
			name := fmt.Sprintf("column %d", j)
			if d.Matrix.Names != nil {
				name = d.Matrix.Names[j]
			}
			s.Columns = append(s.Columns, name)
		}
		s.Cell = func(i, j int) string { return number(d.Matrix, i*d.Matrix.Columns+j) }
	}
	return s
}

// OfFile has pages show a data set that was read from a file, and call rows by their numbers in it
// and by their ids.
func (o *Request) OfFile(ctx context.Context, d *dataset.Dataset, path string, read file.Options) {
	o.Source, o.Rows = fromFile(ctx, d, path, read), "Rows are counted from 1, without the header."
	o.called = func(i int) (key, name string) {
		key = strconv.Itoa(d.SourceRow(i) + 1)
		if d.IDs == nil {
			return key, key
		}
		return key, key + " (" + d.IDs[i] + ")"
	}
}

// fromFile returns what pages show of a data set that was read from a file: the texts of a table,
// else the features of dense examples.
func fromFile(ctx context.Context, d *dataset.Dataset, path string, o file.Options) *Source {
	s := &Source{Text: -1}
	for i := range d.Y {
		s.Labels = append(s.Labels, dataset.LabelOf(d, i))
	}
	s.Read = func(rows []int) error {
		names, cells, err := file.ReadRows(ctx, d, file.Copy{Path: path, Options: o}, rows)
		if errors.Is(err, file.ErrNoTable) {
			if !d.Sparse() && d.Encoding == nil {
				s.Columns = d.Features
				s.Cell = func(i, j int) string { return shortest(float64(d.Row(i)[j]), 32) }
			}
			return nil
		}
		if err != nil {
			return err
		}
		at := len(names) // of the label
		if d.LabelColumn > 0 {
			at = d.LabelColumn - 1
			names = slices.Delete(names, at, at+1)
		}
		s.Columns, s.Cell = names, func(i, j int) string {
			if j >= at {
				j++
			}
			return cells[i][j]
		}
		if d.Encoding != nil {
			for _, c := range d.Encoding.Columns {
				if c.Kind == dataset.KindText && s.Text < 0 {
					s.Text = slices.Index(names, c.Name)
				}
			}
		}
		return nil
	}
	return s
}

// shown returns the number of the column of this name, or else of the first of texts; -1 for none.
func (s *Source) shown(name string) (int, error) {
	if name == "" {
		return s.Text, nil
	}
	j, err := file.FindColumn(s.Columns, name)
	if err != nil {
		return j, &umagpu.Fault{Kind: umagpu.Invalid, Option: "show", Cause: err}
	}
	return j, nil
}

// label returns the class of the label of a row, below 0 without one.
func (s *Source) label(row int) int {
	if row >= len(s.Labels) {
		return -1
	}
	return int(s.Labels[row])
}

// values returns the first n values of a row.
func (s *Source) values(row, n int) (list []string) {
	for j := range n {
		list = append(list, s.Cell(row, j))
	}
	return list
}

// cell returns the value in row i, "" for a missing one.
func cell(c *umagpu.Column, i int) string {
	switch c.Kind {
	case umagpu.Category:
		if c.Codes[i] < 0 {
			return ""
		}
		return c.Levels[c.Codes[i]]
	case umagpu.Text:
		from := int64(0)
		if i > 0 {
			from = c.Ends[i-1]
		}
		return string(c.Bytes[from:c.Ends[i]])
	case umagpu.Date:
		v := c.Numbers[i]
		if math.IsNaN(v) {
			return ""
		}
		at := time.UnixMicro(int64(math.Round(v * 1e6))).UTC()
		if at.Equal(at.Truncate(24 * time.Hour)) {
			return at.Format(time.DateOnly)
		}
		return at.Format(time.DateTime)
	}
	return shortest(c.Numbers[i], 64)
}

// number returns number k of a dense matrix.
func number(m *umagpu.Matrix, k int) string {
	switch {
	case m.Float64 != nil:
		return shortest(m.Float64[k], 64)
	case m.Float32 != nil:
		return shortest(float64(m.Float32[k]), 32)
	}
	return strconv.Itoa(int(m.Uint8[k]))
}

// shortest formats a number, a long one with seven digits, "" for NaN.
func shortest(v float64, bits int) string {
	const long = 12
	text := strconv.FormatFloat(v, 'f', -1, bits)
	switch {
	case math.IsNaN(v):
		return ""
	case len(text) > long:
		return strconv.FormatFloat(v, 'g', 7, bits)
	}
	return text
}
