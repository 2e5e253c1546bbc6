package confusion

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// AxisOf returns which classes an axis of this name has: TrueRows for the true ones,
// TrueColumns for the noisy ones (those of the other axis are true), "" if the name does not tell.
func AxisOf(name string) Axes {
	words := strings.FieldsFunc(strings.ToLower(name),
		func(r rune) bool { return strings.ContainsRune(" _-.", r) })
	of := func(list ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
	}
	isTrue := of("true", "truth", "actual", "clean", "right", "gold", "golden", "reference", "real",
		"correct")
	isNoisy := of("noisy", "noise", "given", "observed", "predicted", "pred", "prediction",
		"annotated", "annotation", "annotator", "worker", "wrong")
	switch {
	case isTrue == isNoisy:
		return ""
	case isTrue:
		return TrueRows
	}
	return TrueColumns
}

// named returns what the names of the axes tell.
func (g *grid) named() (Axes, string, error) {
	row, column := AxisOf(g.rowAxis), AxisOf(g.columnAxis)
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
	digit := math.Pow(10, -float64(min(g.decimals, 12)))
	if g.whole() {
		digit = 0
	}
	return digit*float64(n)/2 + 1e-9
}

// whole says whether all numbers are integers.
func (g *grid) whole() bool {
	for _, row := range g.rows {
		for _, v := range row {
			if v != math.Trunc(v) {
				return false
			}
		}
	}
	return true
}

// sums are those of a table's lines, each the worst.
type sums struct {
	columns, rows []float64
	total         float64
}

func (g *grid) sums() sums {
	s := sums{columns: make([]float64, len(g.rows[0])), rows: make([]float64, len(g.rows))}
	for i, row := range g.rows {
		for k, v := range row {
			s.columns[k] += v
			s.rows[i] += v
			s.total += v
		}
	}
	return s
}

// off returns the sum that is farthest from unit.
func off(sums []float64, unit float64) float64 {
	worst := unit
	for _, s := range sums {
		if math.Abs(s-unit) > math.Abs(worst-unit) {
			worst = s
		}
	}
	return worst
}

// table decides what the numbers are, and which axis has the true classes.
func (g *grid) table(asked Axes) (*Table, error) {
	switch asked {
	case "":
		asked = AxesAuto
	case AxesAuto, TrueRows, TrueColumns:
	default:
		return nil, fmt.Errorf("found axes %q, wanted %s, %s or %s", asked, AxesAuto, TrueRows,
			TrueColumns)
	}
	named, why, err := g.named()
	if err != nil {
		return nil, err
	}
	if asked != AxesAuto {
		if named != "" && named != asked {
			return nil, fmt.Errorf("%s, so the table has %s, and %s are asked for", why, axesText(named),
				asked)
		}
		named, why = asked, "that was asked for"
	}
	s := g.sums()
	if s.total == 0 {
		return nil, fmt.Errorf("found a table of zeros, wanted counts, percentages or shares")
	}
	kind, unit, byColumns, byRows := g.kind(s, named)
	if kind == "" {
		unit = 1
		if slices.Max(s.columns) > 10 {
			unit = 100
		}
		return nil, fmt.Errorf("found columns that sum to %v and rows that sum to %v, wanted 1 or 100 "+
			"for one of them within rounding, or counts: is a row or column "+
			"missing?", off(s.columns, unit), off(s.rows, unit))
	}
	t := &Table{Classes: g.classes, Kind: kind, Axes: named, Why: why}
	if kind == Shares {
		if err := t.orient(g, s, unit, byColumns, byRows); err != nil {
			return nil, err
		}
	} else if named == "" {
		return nil, fmt.Errorf("found %s, of which nothing says whether rows or columns are the true "+
			"classes: say %s (as scikit-learn's confusion_matrix(y_true, y_noisy) has them) or %s",
			kindText(kind), TrueRows, TrueColumns)
	}
	if kind == Shares && unit == 100 && g.whole() && !g.percent {
		t.Notes = append(t.Notes,
			"whole numbers of which those of each true class sum to 100 are taken as percentages")
	}
	t.fill(g, unit)
	return t, nil
}

func kindText(k Kind) string {
	if k == Joint {
		return "shares of all examples"
	}
	return string(k)
}

func axesText(a Axes) string {
	if a == TrueRows {
		return "true classes in rows"
	}
	return "true classes in columns"
}

// kind finds what the numbers are: of shares, which lines sum to the unit; "" for nothing known.
// Whole numbers whose sum is 100 may as well be counts, unless it is the sum of true classes.
func (g *grid) kind(s sums, named Axes) (k Kind, unit float64, byColumns, byRows bool) {
	whole, most := g.whole(), 0.0
	for _, row := range g.rows {
		most = max(most, slices.Max(row))
	}
	for _, unit := range []float64{1, 100} {
		if g.percent && unit == 1 || unit == 1 && whole && most > 1 {
			continue
		}
		// Rounding moves a sum by half a digit a term at most; more than 5 % is no rounding.
		slack := func(n int) float64 {
			v := g.slack(n)
			if whole && unit == 100 {
				v = float64(n)/2 + 1e-9
			}
			return min(v, unit/20)
		}
		byColumns = math.Abs(off(s.columns, unit)-unit) <= slack(len(g.rows))
		byRows = math.Abs(off(s.rows, unit)-unit) <= slack(len(g.rows[0]))
		if whole && unit == 100 && !g.percent {
			byColumns, byRows = byColumns && named == TrueColumns, byRows && named == TrueRows
		}
		if byColumns || byRows {
			return Shares, unit, byColumns, byRows
		}
		if math.Abs(s.total-unit) <= slack(len(g.rows)*len(g.rows[0])) && (!whole || g.percent) {
			return Joint, unit, false, false
		}
	}
	if whole && !g.percent {
		return Counts, 1, false, false
	}
	return "", 0, false, false
}

// orient decides by sums which axis of shares has the true classes, and compares with names.
func (t *Table) orient(g *grid, s sums, unit float64, byColumns, byRows bool) error {
	switch {
	case byColumns && byRows && t.Axes == "" && !g.symmetric():
		return fmt.Errorf("found rows and columns that all sum to %v, so that nothing says which are "+
			"the true classes: say %s or %s", unit, TrueRows, TrueColumns)
	case byColumns && byRows && t.Axes == "":
		t.Axes, t.Why = TrueColumns, "the table is symmetric, so that both are the same"
	case byColumns && byRows:
	case byColumns && t.Axes == TrueRows:
		return fmt.Errorf("found columns that sum to %v and a row that sums to %v, so columns are the "+
			"true classes, and not rows as %s: say %s, or mend the table",
			unit, off(s.rows, unit), strings.TrimPrefix(t.Why, "that "), TrueColumns)
	case byRows && t.Axes == TrueColumns:
		return fmt.Errorf("found rows that sum to %v and a column that sums to %v, so rows are the true "+
			"classes, and not columns as %s: say %s, or mend the table",
			unit, off(s.columns, unit), strings.TrimPrefix(t.Why, "that "), TrueRows)
	case byColumns:
		t.Axes, t.Why = TrueColumns, fmt.Sprintf("each column sums to %v", unit)
	default:
		t.Axes, t.Why = TrueRows, fmt.Sprintf("each row sums to %v", unit)
	}
	return nil
}

// symmetric says whether noisy and true classes may change places.
func (g *grid) symmetric() bool {
	at := map[[2]int]float64{}
	for i, row := range g.rows {
		for k, v := range row {
			at[[2]int{g.rowOf[i], g.columnsOf[k]}] = v
		}
	}
	for place, v := range at {
		if math.Abs(at[[2]int{place[1], place[0]}]-v) > 2*g.slack(1) {
			return false
		}
	}
	return true
}

// fill puts the numbers in their places.
func (t *Table) fill(g *grid, unit float64) {
	q := len(t.Classes)
	t.V = make([]float64, q*q)
	for i, row := range g.rows {
		for k, v := range row {
			p, c := g.rowOf[i], g.columnsOf[k]
			if t.Axes == TrueRows {
				p, c = c, p
			}
			t.V[p*q+c] = math.Abs(v) / unit // -0 is 0
		}
	}
	if t.Kind != Shares {
		return
	}
	for c := range q { // rounded sums become 1
		sum := 0.0
		for p := range q {
			sum += t.V[p*q+c]
		}
		for p := range q {
			if sum > 0 {
				t.V[p*q+c] /= sum
			}
		}
	}
}
