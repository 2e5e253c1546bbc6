package confusion

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/confusion/internal/labelfile"
	"github.com/uma-gpu/uma-gpu/internal/setting"
)

// Which classes the rows of a table are.
const (
	AxesAuto    = "auto"         // what the table itself says, by names or by sums
	TrueRows    = "true-rows"    // as scikit-learn's confusion_matrix(y_true, y_noisy) has them
	TrueColumns = "true-columns" // as a Matrix has them
)

// What the numbers of a table are.
const (
	Counts = "counts" // of examples
	Joint  = "joint"  // shares of all examples, as pandas.crosstab(normalize="all") has them
	Shares = "shares" // of the examples of each true class
)

// Table is a table of true against noisy labels as people keep it.
type Table struct {
	Classes []string // Q distinct names
	// Q×Q, row-major: V[p*Q+q] is of the examples with noisy label p and true class q; at least 0
	V     []float64
	Kind  string   // of V; shares and joint shares are of 1, even if the file has percentages
	Axes  string   // of the file, never AxesAuto
	Why   string   // what told the axes: a part of a sentence
	Notes []string // what is odd about it, a sentence each
}

// ReadTable reads a table as other programs and people write it, plain or compressed by gzip:
//
//   - text with commas, semicolons (also with decimal commas), tabs or spaces between the
//     numbers: what pandas' crosstab and DataFrame write and print, spreadsheets save, R's
//     write.table writes, and Matrix.Write;
//   - what numpy prints, or Python: scikit-learn's confusion_matrix, a list of lists (JSON);
//   - numpy's .npy of integers or floats.
//
// Names of classes may stand above the columns, before the rows, at both or nowhere; where the
// two differ, what is missing has been counted 0 times. A row and a column called All, Total or
// Sum are margins. The numbers are counts, percentages, or shares rounded to any digits, of all
// examples or of those of each true class.
//
// Which axis has the true classes is said by o.Axes, by the name of the rows or the corner
// (true, actual, gold ...; noisy, given, observed, predicted ...), or by what sums to 1: that of
// each true class does. "" is AxesAuto. Without o.Classes the classes are the names at the table's
// borders, the rows' first, or 0, 1, ... if it has none. It is an error if nothing tells the axes,
// or if what tells contradicts.
//
// Errors begin with the path, and for text with the line.
func ReadTable(path string, o ReadOptions) (*Table, error) {
	if o.Classes != nil {
		if err := labelfile.CheckClasses(o.Classes); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	data, err := readFile(path, "the table", maxBytes(nil))
	if err != nil {
		return nil, err
	}
	return parseTable(path, data, o)
}

// checkAxes returns an error unless axes is a value of ReadOptions.Axes.
func checkAxes(axes string) error {
	if axes != "" && axes != AxesAuto && axes != TrueRows && axes != TrueColumns {
		return fmt.Errorf("found axes %q, wanted %s, %s or %s", axes, AxesAuto, TrueRows, TrueColumns)
	}
	return nil
}

// parseTable is ReadTable for the bytes of a file.
func parseTable(path string, data []byte, o ReadOptions) (*Table, error) {
	if err := checkAxes(o.Axes); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	g, _, err := gridsOf(path, data, maxBytes(nil), o.Classes) // standard errors are no counts
	if err != nil {
		return nil, err
	}
	if err := g.name(o.Classes); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	t, err := g.table(o.Axes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	t.remark()
	return t, nil
}

// axisOf returns which classes an axis of this name has: TrueRows for the true ones, TrueColumns
// for the noisy ones, whose other axis is true; "" if the name does not tell.
func axisOf(name string) string {
	switch isTrue, isNoisy := labelfile.Axis(name); {
	case isTrue:
		return TrueRows
	case isNoisy:
		return TrueColumns
	}
	return ""
}

// axes returns the axes by their names, and what tells them; "" if nothing does.
func (g *grid) axes() (string, string, error) {
	row, column := axisOf(g.rowAxis), axisOf(g.columnAxis)
	switch {
	case row != "" && row == column:
		return "", "", fmt.Errorf("the axes are called %q and %q, wanted one of true and one of noisy "+
			"classes", g.rowAxis, g.columnAxis)
	case row != "":
		return row, fmt.Sprintf("the rows are called %q", g.rowAxis), nil
	case column == TrueRows:
		return TrueColumns, fmt.Sprintf("the columns are called %q", g.columnAxis), nil
	case column == TrueColumns:
		return TrueRows, fmt.Sprintf("the columns are called %q", g.columnAxis), nil
	}
	return "", "", nil
}

// slack is how far the sum of n numbers may be off, as they are rounded.
func (g *grid) slack(n int) float64 {
	if g.whole() {
		return 1e-9
	}
	return math.Pow(10, -float64(min(g.decimals, 12)))*float64(n)/2 + 1e-9
}

// whole reports whether all numbers are integers.
func (g *grid) whole() bool {
	return !slices.ContainsFunc(g.rows, func(row []float64) bool {
		return slices.ContainsFunc(row, func(v float64) bool { return v != math.Trunc(v) })
	})
}

// shape is what the sums of a table tell of its numbers.
type shape struct {
	kind          string  // "" if no kind fits
	unit          float64 // 1, or 100 of percentages
	column, row   float64 // the sum of a column, and of a row, that is farthest from unit
	columns, rows bool    // all of them sum to unit, within rounding
}

// table decides what the numbers are, and which axis has the true classes.
func (g *grid) table(asked string) (*Table, error) {
	axes, why, err := g.axes()
	if err != nil {
		return nil, err
	}
	if asked == TrueRows || asked == TrueColumns {
		if axes != "" && axes != asked {
			return nil, fmt.Errorf("%s, and %s are asked for", why, asked)
		}
		axes, why = asked, "that was asked for"
	}
	if !slices.ContainsFunc(g.rows, func(row []float64) bool { return slices.Max(row) > 0 }) {
		return nil, errors.New("found a table of zeros, wanted counts, percentages or shares")
	}
	s := g.shape(axes)
	t := &Table{Classes: g.classes, Kind: s.kind, Axes: axes, Why: why}
	switch {
	case s.kind == "":
		return nil, fmt.Errorf("found columns that sum to %v and rows that sum to %v, wanted 1 or 100 "+
			"for one of them within rounding, or counts: is a row or column missing?", s.column, s.row)
	case s.kind == Shares:
		if err := t.orient(s, g.symmetric); err != nil {
			return nil, err
		}
		if s.unit == 100 && g.whole() && !g.percent {
			t.Notes = append(t.Notes,
				"whole numbers are taken as percentages, as those of each true class sum to 100")
		}
	case axes == "":
		return nil, fmt.Errorf("found %s, and nothing says whether rows or columns are the true "+
			"classes: say %s (as scikit-learn's confusion_matrix(y_true, y_noisy) has them) or %s",
			map[string]string{Joint: "shares of all examples", Counts: "counts"}[s.kind],
			setting.Spell("confusion-axes", TrueRows), TrueColumns)
	}
	t.V = g.values(t.Axes == TrueRows)
	for k := range t.V {
		t.V[k] /= s.unit
	}
	if t.Kind == Shares { // rounded sums become 1
		q := len(t.Classes)
		for c, sum := range t.sums() {
			for p := 0; p < q && sum > 0; p++ {
				t.V[p*q+c] /= sum
			}
		}
	}
	return t, nil
}

// sums returns the sum of each column.
func (t *Table) sums() []float64 {
	q := len(t.Classes)
	sums := make([]float64, q)
	for k, v := range t.V {
		sums[k%q] += v
	}
	return sums
}

// shape finds what the numbers are. Whole numbers whose sum is 100 may as well be counts, unless
// it is the sum of true classes.
func (g *grid) shape(axes string) (s shape) {
	columns, rows := make([]float64, len(g.rows[0])), make([]float64, len(g.rows))
	total, most, whole := 0.0, 0.0, g.whole()
	for i, row := range g.rows {
		for k, v := range row {
			columns[k] += v
			rows[i] += v
			total += v
			most = max(most, v)
		}
	}
	for _, s.unit = range []float64{1, 100} {
		if g.percent && s.unit == 1 || s.unit == 1 && whole && most > 1 {
			continue
		}
		// Rounding moves a sum by half a digit a term at most; more than 5 % is no rounding.
		within := func(sum float64, n int) bool {
			slack := g.slack(n)
			if whole && s.unit == 100 {
				slack = float64(n)/2 + 1e-9
			}
			return math.Abs(sum-s.unit) <= min(slack, s.unit/20)
		}
		s.column, s.row = farthest(columns, s.unit), farthest(rows, s.unit)
		s.columns, s.rows = within(s.column, len(rows)), within(s.row, len(columns))
		if whole && s.unit == 100 && !g.percent {
			s.columns, s.rows = s.columns && axes == TrueColumns, s.rows && axes == TrueRows
		}
		if s.columns || s.rows {
			s.kind = Shares
			return s
		}
		if within(total, len(rows)*len(columns)) && (!whole || g.percent) {
			s.kind = Joint
			return s
		}
	}
	if s.unit = 1; whole && !g.percent {
		s.kind = Counts
		return s
	}
	if slices.Max(columns) > 10 {
		s.unit = 100
	}
	s.column, s.row = farthest(columns, s.unit), farthest(rows, s.unit)
	return s
}

// farthest returns the sum that is farthest from unit.
func farthest(sums []float64, unit float64) float64 {
	worst := unit
	for _, s := range sums {
		if math.Abs(s-unit) > math.Abs(worst-unit) {
			worst = s
		}
	}
	return worst
}

// orient decides by sums which axis of shares has the true classes, and compares with names.
func (t *Table) orient(s shape, symmetric func() bool) error {
	why := strings.TrimPrefix(t.Why, "that ")
	switch {
	case s.columns && s.rows && t.Axes != "":
	case s.columns && s.rows && !symmetric():
		return fmt.Errorf("found rows and columns that all sum to %v, so that nothing says which are "+
			"the true classes: say %s or %s", s.unit, setting.Spell("confusion-axes", TrueRows),
			TrueColumns)
	case s.columns && s.rows:
		t.Axes, t.Why = TrueColumns, "the table is symmetric, so that both are the same"
	case s.columns && t.Axes == TrueRows:
		return fmt.Errorf("found columns that sum to %v and a row that sums to %v, so columns are the "+
			"true classes, and not rows as %s: say %s, or mend the table", s.unit, s.row, why, TrueColumns)
	case s.rows && t.Axes == TrueColumns:
		return fmt.Errorf("found rows that sum to %v and a column that sums to %v, so rows are the true "+
			"classes, and not columns as %s: say %s, or mend the table", s.unit, s.column, why, TrueRows)
	case s.columns:
		t.Axes, t.Why = TrueColumns, fmt.Sprintf("each column sums to %v", s.unit)
	default:
		t.Axes, t.Why = TrueRows, fmt.Sprintf("each row sums to %v", s.unit)
	}
	return nil
}

// symmetric reports whether noisy and true classes may change places.
func (g *grid) symmetric() bool {
	v, q := g.values(false), len(g.classes)
	for k := range v {
		if math.Abs(v[k]-v[k%q*q+k/q]) > 2*g.slack(1) {
			return false
		}
	}
	return true
}

// remark adds notes on what the numbers themselves make doubtful.
func (t *Table) remark() {
	q := len(t.Classes)
	var odd, empty []string
	for c, sum := range t.sums() {
		most := 0
		for p := range q {
			if t.V[p*q+c] > t.V[most*q+c] {
				most = p
			}
		}
		if sum == 0 {
			empty = append(empty, t.Classes[c])
		} else if t.V[most*q+c] > t.V[c*q+c] {
			odd = append(odd, t.Classes[c])
		}
	}
	if empty != nil {
		t.Notes = append(t.Notes,
			fmt.Sprintf("no example has the true class %s: nothing is known of its noise",
				strings.Join(empty, ", ")))
	}
	if 2*len(odd) > q-len(empty) {
		t.Notes = append(t.Notes,
			fmt.Sprintf("of most classes (%s) another label is more frequent than the right one: are rows "+
				"and columns in the same order?", labelfile.Quoted(odd)))
	}
}

// Share returns V with each column divided by its sum: P(noisy = p | true = q). The error names
// a class without an example.
func (t *Table) Share() (*Matrix, error) {
	m, err := New(t.Classes)
	if err != nil {
		return nil, err
	}
	sums := t.sums()
	if c := slices.Index(sums, 0); c >= 0 {
		return nil, fmt.Errorf("table: no example has the true class %.60q: add some, or smooth the "+
			"estimate", t.Classes[c])
	}
	for k, v := range t.V {
		m.P[k] = v / sums[k%m.Q()]
	}
	return m, m.Check()
}
