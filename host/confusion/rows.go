package confusion

import (
	"fmt"
	"math"
	"slices"
)

// FromRows returns the table of numbers in memory: rows of counts or shares of the classes, in
// their order, and standard errors of shares, nil if they are unknown. axes is as ReadOptions.Axes:
// without, the true classes are where shares sum to 1, columns if rows do too. Counts need axes,
// unless they are of all examples: labelled is how many of these have each noisy label. Errors are
// of ReadTable, without a path.
func FromRows(classes []string, rows, errs [][]float64, axes string, labelled []int64,
) (*Table, error) {
	t, q := &Table{Classes: classes}, len(classes)
	if err := CheckClasses(classes); err != nil {
		return nil, err
	}
	var err error
	if t.V, err = flat(rows, q); err != nil {
		return nil, err
	}
	for k, v := range t.V {
		if !(v >= 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("row %d, column %d: got %v, want a share or a count", k/q, k%q, v)
		}
		t.Counts = t.Counts || v > 1
	}
	if errs != nil {
		if t.Error, err = flat(errs, q); err != nil {
			return nil, fmt.Errorf("standard errors: %w", err)
		}
	}
	if !slices.Contains([]string{"", AxesAuto, TrueRows, TrueColumns}, axes) {
		return nil, fmt.Errorf("found axes %q, wanted %s, %s or %s", axes, AxesAuto, TrueRows,
			TrueColumns)
	}
	if t.Axes = bySums(t, axes, labelled); t.Axes == "" {
		return nil, fmt.Errorf("counts, and nothing says whether rows or columns are the true classes: "+
			"divide by the sums of the true classes, which are rows of scikit-learn's "+
			"confusion_matrix(y_true, y_noisy); or say %s or %s", axesOption(), TrueColumns)
	}
	if t.Axes == TrueRows {
		t.V, t.Error = transpose(t.V, q), transpose(t.Error, q)
	}
	return t, nil
}

// bySums returns the axes: of counts those by which all labels are counted once, "" for none.
func bySums(t *Table, axes string, labelled []int64) string {
	if axes != "" && axes != AxesAuto {
		return axes
	}
	turned := &Table{Classes: t.Classes, V: transpose(t.V, len(t.Classes))}
	if !t.Counts {
		if turned.isShares(SumTolerance) && !t.isShares(SumTolerance) {
			return TrueRows
		}
		return TrueColumns
	}
	counts := func(t *Table) bool {
		return slices.EqualFunc(t.sums(), labelled, func(sum float64, n int64) bool {
			return sum == float64(n)
		})
	}
	switch rows, columns := counts(turned), counts(t); {
	case columns && !rows:
		return TrueRows // the columns sum to the noisy labels
	case rows && !columns:
		return TrueColumns
	}
	return ""
}

func flat(rows [][]float64, q int) (v []float64, err error) {
	for i, row := range rows {
		if len(row) != q || len(rows) != q {
			return nil, fmt.Errorf("got row %d of %d numbers and %d rows, want %d × %[4]d, for the classes",
				i, len(row), len(rows), q)
		}
		v = append(v, row...)
	}
	if len(rows) != q {
		return nil, fmt.Errorf("got %d rows, want %d, one for each class", len(rows), q)
	}
	return v, nil
}
