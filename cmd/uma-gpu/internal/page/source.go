package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	umagpu "github.com/uma-gpu/uma-gpu"
)

// source returns what pages show of the data of a request.
func (o *Request) source(d *umagpu.Data, l *umagpu.Labels) *Source {
	if o.Source != nil {
		return o.Source
	}
	s := &Source{Labels: l.Codes}
	switch {
	case d.Table != nil:
		for _, c := range d.Table.Columns {
			s.Columns = append(s.Columns, c.Name)
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

// shown returns the number of the column of this name, or else of the first of texts; -1 for none.
func (s *Source) shown(name string, d *umagpu.Data) int {
	if name == "" && d.Table != nil {
		for j, c := range d.Table.Columns {
			if c.Kind == umagpu.Text || slices.Contains(d.Table.Text, c.Name) {
				return j
			}
		}
	}
	return slices.Index(s.Columns, name)
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
