package confusion

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/uma-gpu/uma-gpu/host/confusion/internal/labelfile"
)

// cells are the fields of a text, and what separates them.
type cells struct {
	rows  [][]string
	lines []int // in which each row begins
	comma bool  // numbers have a decimal comma
	// rowAxis and columnAxis name what rows and columns are, if the text says so in a place of
	// their own.
	rowAxis, columnAxis string
}

// cellsOf cuts a text into fields.
func cellsOf(path, text string) (*cells, error) {
	at, first := firstLine(text)
	switch {
	case first == "":
		return nil, fmt.Errorf("%s:1: found no text, wanted a table of true against noisy labels", path)
	case strings.HasPrefix(first, "[") || strings.Contains(first, "array([") || strings.Contains(first,
		"=[") || strings.Contains(first, "= ["):
		return bracketed(path, text)
	case strings.Contains(first, "\t"):
		return separated(path, text, '\t')
	case strings.Contains(first, ";"):
		return separated(path, text, ';')
	case strings.Contains(first, ","):
		return separated(path, text, ',')
	case strings.HasSuffix(first, `\`):
		return nil, fmt.Errorf("%s:%d: found a printed table whose columns go on below, wanted whole "+
			"rows: write it with to_csv", path, at)
	}
	return printed(text), nil
}

// separated reads fields as RFC 4180 has them, with any separator.
func separated(path, text string, separator rune) (*cells, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord, r.Comma = -1, separator
	c := &cells{comma: separator == ';' && !strings.Contains(text, ".")}
	for {
		fields, line, err := labelfile.Record(path, r)
		if err == io.EOF && len(c.rows) == 0 {
			return nil, fmt.Errorf("%s:1: found no text, wanted a table of true against noisy labels", path)
		}
		if err == io.EOF {
			return c, nil
		}
		if err != nil {
			return nil, err
		}
		if strings.Join(fields, "") == "" {
			continue
		}
		for k := range fields {
			fields[k] = strings.TrimSpace(fields[k])
		}
		c.rows, c.lines = append(c.rows, fields), append(c.lines, line)
	}
}

// printed reads what pandas prints, or anybody: fields with white space between them. pandas
// prints the name of the columns before their names, and that of the rows on a line of its own.
func printed(text string) *cells {
	c := &cells{}
	n := 0
	for l := range strings.Lines(text) {
		n++
		fields := strings.FieldsFunc(l, unicode.IsSpace)
		for k, f := range fields { // quotes of R
			if len(f) > 2 && f[0] == '"' && f[len(f)-1] == '"' {
				fields[k] = f[1 : len(f)-1]
			}
		}
		if len(fields) > 0 {
			c.rows, c.lines = append(c.rows, fields), append(c.lines, n)
		}
	}
	if len(c.rows) > 2 && len(c.rows[1]) == 1 && len(c.rows[0]) > 1 &&
		len(c.rows[0]) == len(c.rows[2]) {
		c.columnAxis, c.rowAxis = c.rows[0][0], c.rows[1][0]
		c.rows[0][0] = ""
		c.rows = append(c.rows[:1:1], c.rows[2:]...)
		c.lines = append(c.lines[:1:1], c.lines[2:]...)
	}
	return c
}

// bracketed reads what numpy and Python print: rows in brackets, all of them in another pair.
func bracketed(path, text string) (*cells, error) {
	c := &cells{}
	line, depth, from := 1, 0, -1
	for at, r := range text {
		switch r {
		case '\n':
			line++
		case '[':
			if depth++; depth > 2 {
				return nil, fmt.Errorf("%s:%d: found brackets in a row, wanted a table: [[...], [...]]", path,
					line)
			}
			from = at + 1
			if depth == 2 {
				c.lines = append(c.lines, line)
			}
		case ']':
			if depth == 2 {
				c.rows = append(c.rows, strings.FieldsFunc(text[from:at], func(r rune) bool {
					return r == ',' || unicode.IsSpace(r)
				}))
				if len(c.rows[len(c.rows)-1]) == 0 {
					return nil, fmt.Errorf("%s:%d: found a row without a number", path, line)
				}
			}
			depth--
		}
		if depth < 0 {
			break
		}
	}
	switch {
	case strings.Contains(text, "..."):
		return nil, fmt.Errorf("%s: found ... where numpy left out numbers, wanted all: save the array "+
			"by numpy.save, or print it after numpy.set_printoptions(threshold=sys.maxsize)", path)
	case depth != 0 || len(c.rows) == 0:
		return nil, fmt.Errorf("%s:%d: found brackets that do not match, wanted a table: [[...], [...]]",
			path, line)
	}
	return c, nil
}

// number returns the number of a field, how many decimals it has, and whether a % follows it.
func (c *cells) number(field string) (v float64, decimals int, percent bool, err error) {
	s, percent := c.plain(field)
	if v, err = parseNumber(s, math.MaxInt64); err != nil {
		if s != field {
			err = fmt.Errorf("%.40q", field)
		}
		return 0, 0, false, err
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	if _, fraction, ok := strings.Cut(mantissa, "."); ok {
		decimals = len(fraction)
		if strings.Trim(fraction, "0") == "" { // 12.0 is a count
			decimals = 0
		}
	}
	if shift, err := strconv.Atoi(exponent); err == nil {
		decimals = max(0, decimals-shift)
	}
	return v, decimals, percent, nil
}

// isName says whether a field is no number: the name of a class or of an axis.
func (c *cells) isName(field string) bool {
	s, _ := c.plain(field)
	return !isNumber(s)
}

// plain returns a number's text without % and with a decimal point, and whether a % followed it.
func (c *cells) plain(field string) (s string, percent bool) {
	s, percent = strings.CutSuffix(field, "%")
	if c.comma {
		s = strings.Replace(s, ",", ".", 1)
	}
	return strings.TrimSpace(s), percent
}
