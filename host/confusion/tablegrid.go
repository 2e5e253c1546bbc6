package confusion

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/confusion/internal/labelfile"
)

// grid is a table of numbers with what stands at its borders.
type grid struct {
	rows             [][]float64 // all of one length
	rowNames         []string    // nil if there are none
	columnNames      []string
	rowAxis          string // what rows are, by the text; "" if it does not say
	columnAxis       string
	decimals         int // that the numbers are rounded to
	percent          bool
	classes          []string
	rowOf, columnsOf []int // the class of each row and column
}

// grid finds the borders of a text and reads the numbers between them.
func (c *cells) grid(path string) (*grid, error) {
	header, index, err := c.borders(path)
	if err != nil {
		return nil, err
	}
	g := &grid{rowAxis: c.rowAxis, columnAxis: c.columnAxis}
	rows, lines := c.rows, c.lines
	if header {
		g.columnNames = rows[0]
		if index && len(rows) > 1 && len(rows[0]) == len(rows[1]) {
			g.columnNames = rows[0][1:]
			g.corner(rows[0][0])
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

// borders says whether names stand above the columns and before the rows.
func (c *cells) borders(path string) (header, index bool, err error) {
	first, rest := c.rows[0], c.rows[1:]
	named := func(fields []string) bool { return slices.ContainsFunc(fields, c.isName) }
	for _, fields := range rest {
		index = index || c.isName(fields[0])
	}
	header = named(first[min(1, len(first)-1):]) // a name in the first row alone belongs to that row
	if len(rest) == 0 {
		return header, false, nil
	}
	width := len(rest[0])
	switch {
	case len(first) == width-1: // as R's write.table has it, and pandas prints it
		return true, true, nil
	case len(first) != width:
		return false, false, fmt.Errorf("%s:%d: found %d fields, wanted %d as in line %d, or one less",
			path, c.lines[0], len(first), width, c.lines[1])
	// ",0,1": a corner over names that are numbers, or a name before numbers
	case c.isName(first[0]) && !header:
		header = !index || len(rest) == width-1 || first[0] == "" || AxisOf(first[0]) != "" ||
			strings.ContainsAny(first[0], `\/`)
		return header, true, nil
	case header && !index: // names that are numbers before the rows, or none
		index = first[0] == "" || AxisOf(first[0]) != "" || strings.ContainsAny(first[0], `\/`) ||
			len(rest) == width-1
	case !header && !index: // only numbers: one row or column more than the others are names
		header, index = len(rest) == width, len(rest)+1 == width-1
	}
	return header, index, nil
}

// corner takes what stands above the rows' names: what rows are, or "rows\columns".
func (g *grid) corner(text string) {
	g.rowAxis = text
	for _, cut := range []string{`\`, "/"} {
		if row, column, ok := strings.Cut(text, cut); ok {
			g.rowAxis, g.columnAxis = strings.TrimSpace(row), strings.TrimSpace(column)
		}
	}
}

// margins are the names of sums.
var margins = []string{"all", "total", "sum", "totals"}

func isMargin(name string) bool { return slices.Contains(margins, strings.ToLower(name)) }

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
	if i := slices.Index(classes, ""); i >= 0 {
		return fmt.Errorf("found a class without a name, wanted one for each row and column")
	}
	if err := CheckMemory(len(classes)); err != nil {
		return err
	}
	g.classes = slices.Clone(classes)
	var err error
	if g.rowOf, err = labelfile.Indices(names[0], classes); err != nil {
		return fmt.Errorf("the border of the rows %w", err)
	}
	if g.columnsOf, err = labelfile.Indices(names[1], classes); err != nil {
		return fmt.Errorf("the border of the columns %w", err)
	}
	return CheckClasses(g.classes)
}

// dropMargins takes away the column and the row whose last name is that of sums and of no class.
// Where there are both, they are compared with the numbers.
func (g *grid) dropMargins(classes []string) error {
	ends := func(names []string) bool {
		n := len(names)
		return n > 2 && isMargin(names[n-1]) && !slices.Contains(classes, names[n-1])
	}
	right, below := ends(g.columnNames), ends(g.rowNames)
	width, height := len(g.rows[0]), len(g.rows)
	if right {
		width--
	}
	if below {
		height--
	}
	if right && below {
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
	for i, row := range g.rows {
		g.rows[i] = row[:width:width]
	}
	g.rows = g.rows[:height:height]
	if right {
		g.columnNames = g.columnNames[:width:width]
	}
	if below {
		g.rowNames = g.rowNames[:height:height]
	}
	return nil
}

// checkMargin compares a sum with its terms.
func (g *grid) checkMargin(terms []float64, margin float64, what, name string) error {
	sum := 0.0
	for _, v := range terms {
		sum += v
	}
	if slack := g.slack(len(terms) + 1); sum > margin+slack || sum < margin-slack {
		return fmt.Errorf("the %s of %q sums to %v, and its margin says %v: is a row or column missing?",
			what, name, sum, margin)
	}
	return nil
}
