package confusion

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/uma-gpu/uma-gpu/host/confusion/internal/labelfile"
	"github.com/uma-gpu/uma-gpu/host/confusion/internal/square"
	"github.com/uma-gpu/uma-gpu/internal/lists"
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
	at, first := 0, ""
	for l := range strings.Lines(text) {
		at++
		if first = strings.TrimSpace(l); first != "" {
			break
		}
	}
	plain := strings.TrimPrefix(first, `"`)
	for _, corner := range []string{cornerNoisyRows, cornerTrueRows} {
		if rest, ours := strings.CutPrefix(plain, corner); ours { // names are as they stand there
			rest = strings.TrimPrefix(rest, `"`)
			return separated(path, text, rune((rest + ",")[0]), func(s string) string { return s })
		}
	}
	switch {
	case first == "":
		return nil, errNoText(path)
	case strings.HasPrefix(first, "[") || strings.Contains(first, "array([") ||
		strings.Contains(first, "=[") || strings.Contains(first, "= ["):
		return bracketed(path, text)
	case strings.HasSuffix(first, `\`) && !strings.ContainsAny(first, "\t;,"):
		return nil, fmt.Errorf("%s:%d: found a printed table whose columns go on below, wanted whole "+
			"rows: write it with to_csv", path, at)
	}
	for _, separator := range "\t;," {
		if strings.ContainsRune(first, separator) {
			return separated(path, text, separator, strings.TrimSpace)
		}
	}
	return printed(text), nil
}

func errNoText(path string) error {
	return fmt.Errorf("%s:1: found no text, wanted a table of true against noisy labels", path)
}

// separated reads fields as RFC 4180 has them, with any separator.
func separated(path, text string, separator rune, trim func(string) string) (*cells, error) {
	if !strings.ContainsRune("\t;,", separator) {
		separator = ','
	}
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord, r.Comma = -1, separator
	c := &cells{comma: separator == ';' && !strings.Contains(text, ".")}
	for {
		fields, line, err := labelfile.Record(path, r)
		switch {
		case err == io.EOF && len(c.rows) == 0:
			return nil, errNoText(path)
		case err == io.EOF:
			return c, nil
		case err != nil:
			return nil, err
		case strings.Join(fields, "") == "":
			continue
		}
		for k := range fields {
			fields[k] = trim(fields[k])
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
		c.rows, c.lines = slices.Delete(c.rows, 1, 2), slices.Delete(c.lines, 1, 2)
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
				row := strings.FieldsFunc(text[from:at], func(r rune) bool {
					return r == ',' || unicode.IsSpace(r)
				})
				if len(row) == 0 {
					return nil, fmt.Errorf("%s:%d: found a row without a number", path, line)
				}
				c.rows = append(c.rows, row)
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

// cutErrors takes away the table of standard errors that Matrix.Write appends, and returns it with
// the corner of the first table; nil for none.
func (c *cells) cutErrors() *cells {
	header := c.rows[0]
	for k, fields := range c.rows {
		if k > 0 && fields[0] == cornerErrors && slices.Equal(fields[1:], header[1:]) {
			rest := &cells{rows: c.rows[k:], lines: c.lines[k:], comma: c.comma}
			rest.rows[0] = header
			c.rows, c.lines = c.rows[:k], c.lines[:k]
			return rest
		}
	}
	return nil
}

// isNumber reports whether s is a number, even one that a table may not hold.
func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

// number returns the number of a field, at least 0, how many decimals it has, and whether a %
// follows it. The error has no place, which the caller knows.
func (c *cells) number(field string) (v float64, decimals int, percent bool, err error) {
	s, percent := c.plain(field)
	if s == "" {
		return 0, 0, false, errors.New("nothing")
	}
	v, err = strconv.ParseFloat(s, 64)
	// Go also reads 0x1p-2 and 1_000, which no other program writes on purpose.
	if err != nil && !errors.Is(err, strconv.ErrRange) || strings.ContainsAny(s, "xX_") {
		return 0, 0, false, fmt.Errorf("%.40q", field)
	}
	if !(v >= 0 && v <= math.MaxInt64) {
		return 0, 0, false, fmt.Errorf("%.40s", field)
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	_, fraction, _ := strings.Cut(mantissa, ".")
	if strings.Trim(fraction, "0") != "" { // 12.0 is a count
		decimals = len(fraction)
	}
	if shift, err := strconv.Atoi(exponent); err == nil {
		decimals = max(0, decimals-shift)
	}
	return v, decimals, percent, nil
}

// isName reports whether a field is no number: the name of a class or of an axis.
func (c *cells) isName(field string) bool {
	s, _ := c.plain(field)
	return !isNumber(s)
}

// plain returns a number's text without % and with a decimal point, and whether a % followed it.
func (c *cells) plain(field string) (s string, percent bool) {
	s, percent = strings.CutSuffix(strings.TrimSpace(field), "%")
	if c.comma {
		s = strings.Replace(s, ",", ".", 1)
	}
	return strings.TrimSpace(s), percent
}

// grid is a table of numbers with what stands at its borders.
type grid struct {
	rows            [][]float64 // all of one length
	rowNames        []string    // nil if there are none
	columnNames     []string
	rowAxis         string // what rows are, by the text; "" if it does not say
	columnAxis      string
	decimals        int // that the numbers are rounded to
	percent         bool
	classes         []string
	rowOf, columnOf []int // the class of each row and column
}

// grid finds the borders of a text and reads the numbers between them.
func (c *cells) grid(path string, classes []string) (*grid, error) {
	header, index, err := c.borders(path, classes)
	if err != nil {
		return nil, err
	}
	g := &grid{rowAxis: c.rowAxis, columnAxis: c.columnAxis}
	rows, lines := c.rows, c.lines
	if header {
		g.columnNames = rows[0]
		if index && len(rows) > 1 && len(rows[0]) == len(rows[1]) {
			g.columnNames, g.rowAxis = rows[0][1:], rows[0][0]
			for _, cut := range []string{`\`, "/"} { // "rows\columns"
				if row, column, ok := strings.Cut(rows[0][0], cut); ok {
					g.rowAxis, g.columnAxis = strings.TrimSpace(row), strings.TrimSpace(column)
				}
			}
		}
		rows, lines = rows[1:], lines[1:]
	}
	width := 0
	for k, fields := range rows {
		if index {
			g.rowNames, fields = append(g.rowNames, fields[0]), fields[1:]
		}
		if k == 0 {
			width = len(fields)
		}
		if len(fields) != width || width == 0 {
			return nil, fmt.Errorf("%s:%d: found %d numbers, wanted %d as in the first row",
				path, lines[k], len(fields), width)
		}
		values := make([]float64, width)
		for at, field := range fields {
			v, decimals, percent, err := c.number(field)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: found %w in column %d of the numbers, wanted a count, a "+
					"percentage or a share", path, lines[k], err, at+1)
			}
			values[at], g.percent = v, g.percent || percent
			g.decimals = max(g.decimals, decimals)
		}
		g.rows = append(g.rows, values)
	}
	if len(g.rows) == 0 {
		return nil, fmt.Errorf("%s:%d: found names and no numbers, wanted a table of true against noisy "+
			"labels", path, c.lines[0])
	}
	if header && len(g.columnNames) != width {
		return nil, fmt.Errorf("%s:%d: found %d names above %d columns, wanted one for each",
			path, c.lines[0], len(g.columnNames), width)
	}
	return g, nil
}

// borders reports whether names, of classes if these are known, stand above the columns and before
// the rows.
func (c *cells) borders(path string, classes []string) (header, index bool, err error) {
	first, rest := c.rows[0], c.rows[1:]
	// a name in the first row alone belongs to that row
	header = slices.ContainsFunc(first[min(1, len(first)-1):], c.isName)
	index = slices.ContainsFunc(rest, func(fields []string) bool { return c.isName(fields[0]) })
	if len(rest) == 0 {
		return header, false, nil
	}
	width := len(rest[0])
	corner := first[0] == "" || axisOf(first[0]) != "" || strings.ContainsAny(first[0], `\/`) ||
		len(rest) == width-1
	switch {
	case len(first) == width-1: // as R's write.table has it, and pandas prints it
		return true, true, nil
	case len(first) != width:
		return false, false, fmt.Errorf("%s:%d: found %d fields, wanted %d as in line %d, or one less",
			path, c.lines[0], len(first), width, c.lines[1])
	case c.isName(first[0]) && !header: // ",0,1": names that are numbers, or a name before numbers
		return !index || corner, true, nil
	case header && !index: // names that are numbers before the rows, or none
		return true, corner, nil
	case !header && !index: // only numbers: one row or column more than the others are names
		known := func(name string) bool { return classes == nil || slices.Contains(classes, name) }
		if !known(first[0]) && !known(rest[0][0]) {
			return false, false, nil
		}
		return len(rest) == width, len(rest)+1 == width-1, nil
	}
	return header, index, nil
}

// name takes margins away and finds the class of each row and column.
func (g *grid) name(classes []string) error {
	if err := g.dropMargins(classes); err != nil {
		return err
	}
	names := [2][]string{g.rowNames, g.columnNames}
	if g.rowNames == nil {
		names[0] = g.columnNames
	}
	if g.columnNames == nil {
		names[1] = names[0]
	}
	height, width := len(g.rows), len(g.rows[0])
	if (g.rowNames == nil || g.columnNames == nil) && height != width {
		return fmt.Errorf("found a table of %d×%d numbers, wanted as many rows as columns, or names at "+
			"both borders", height, width)
	}
	if names[0] == nil {
		if classes == nil {
			for k := range height {
				classes = append(classes, strconv.Itoa(k))
			}
		}
		if len(classes) != height {
			return fmt.Errorf("found a table of %d×%d numbers without names, wanted a row for each class "+
				"of the data (%s)", height, width, labelfile.Quoted(classes))
		}
		names = [2][]string{classes, classes}
	}
	if classes == nil {
		classes = slices.Clone(names[0])
		for _, name := range names[1] {
			if !slices.Contains(names[0], name) {
				classes = append(classes, name)
			}
		}
	}
	if slices.Contains(classes, "") {
		return errors.New("found a class without a name, wanted one for each row and column")
	}
	if err := square.CheckMemory(len(classes)); err != nil {
		return err
	}
	g.classes = slices.Clone(classes)
	var err error
	if g.rowOf, err = labelfile.Indices(names[0], classes); err != nil {
		return fmt.Errorf("the border of the rows %w", err)
	}
	if g.columnOf, err = labelfile.Indices(names[1], classes); err != nil {
		return fmt.Errorf("the border of the columns %w", err)
	}
	return labelfile.CheckClasses(g.classes)
}

// margins are the names of sums.
var margins = []string{"all", "total", "sum", "totals"}

// dropMargins takes away the column and the row whose last name is that of sums and of no class.
// Where there are both, they are compared with the numbers.
func (g *grid) dropMargins(classes []string) error {
	ends := func(names []string) int {
		n := len(names)
		if n > 2 && slices.Contains(margins, strings.ToLower(names[n-1])) &&
			!slices.Contains(classes, names[n-1]) {
			return 1
		}
		return 0
	}
	width, height := len(g.rows[0])-ends(g.columnNames), len(g.rows)-ends(g.rowNames)
	if width < len(g.rows[0]) && height < len(g.rows) {
		for i, row := range g.rows {
			if err := g.checkMargin(row[:width], row[width], "row", g.rowNames[i]); err != nil {
				return err
			}
		}
		column := make([]float64, height)
		for k, name := range g.columnNames[:width] {
			for i := range column {
				column[i] = g.rows[i][k]
			}
			if err := g.checkMargin(column, g.rows[height][k], "column", name); err != nil {
				return err
			}
		}
	}
	g.rows = g.rows[:height]
	for i, row := range g.rows {
		g.rows[i] = row[:width]
	}
	if g.columnNames != nil {
		g.columnNames = g.columnNames[:width]
	}
	if g.rowNames != nil {
		g.rowNames = g.rowNames[:height]
	}
	return nil
}

// checkMargin compares a sum with its terms.
func (g *grid) checkMargin(terms []float64, margin float64, what, name string) error {
	sum := lists.Sum(terms)
	if math.Abs(sum-margin) > g.slack(len(terms)+1) {
		return fmt.Errorf("the %s of %q sums to %v, and its margin says %v: is a row or column missing?",
			what, name, sum, margin)
	}
	return nil
}

// values returns the numbers, Q×Q, of the classes in their order; 0 where the table has no row or
// column of a class.
func (g *grid) values(transpose bool) []float64 {
	q := len(g.classes)
	v := make([]float64, q*q)
	for i, row := range g.rows {
		for k, n := range row {
			p, c := g.rowOf[i], g.columnOf[k]
			if transpose {
				p, c = c, p
			}
			v[p*q+c] = math.Abs(n) // -0 is 0
		}
	}
	return v
}
