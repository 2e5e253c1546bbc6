package features

import (
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

const (
	// mostBent is how many columns of numbers a table has at most whose numbers get knots: of more,
	// a linear model has features enough.
	mostBent = 50
	// mostKnotted is about how many examples, evenly from all, say where knots are.
	mostKnotted = 100000
)

// knotsOf returns the knots of each column: at most n quantiles of its numbers.
func knotsOf(t *dataset.Table, n int) [][]float32 {
	knots := make([][]float32, len(t.Columns))
	known := func(c dataset.TableColumn) bool {
		return slices.ContainsFunc(c.Numbers, func(v float32) bool { return !missing(v) })
	}
	if n == 0 || t.N < KnotExamples || lists.Count(t.Columns, known) > mostBent {
		return knots
	}
	for k, c := range t.Columns {
		var numbers []float64
		for i := 0; i < len(c.Numbers); i += 1 + t.N/mostKnotted {
			if v := c.Numbers[i]; !missing(v) {
				numbers = append(numbers, float64(v))
			}
		}
		slices.Sort(numbers)
		knots[k] = cuts(numbers, n)
	}
	return knots
}

// cuts returns numbers between the least and the greatest of sorted values, which part these into
// n+1 parts of equally many. Where one value fills several parts, it is a cut, and n others part
// what is left.
func cuts(values []float64, n int) (found []float32) {
	if len(values) == 0 { // none of the examples that were looked at has a number
		return nil
	}
	all := parted(values, n)
	if len(all) < n {
		common := commonest(values)
		rest := lists.Keep(values, func(v float64) bool { return v != common })
		all = append(parted(rest, n), common)
		slices.Sort(all)
	}
	for _, v := range all {
		if v > values[0] && v < values[len(values)-1] {
			found = append(found, float32(v))
		}
	}
	return found
}

// parted returns the different values at which n+1 parts of equally many begin, but the first.
func parted(values []float64, n int) (found []float64) {
	for k := 1; k <= n && len(values) > 0; k++ {
		if v := values[k*len(values)/(n+1)]; len(found) == 0 || v != found[len(found)-1] {
			found = append(found, v)
		}
	}
	return found
}

// commonest returns the value that sorted values have most often, 0 if there is none.
func commonest(values []float64) (common float64) {
	most := 0
	for from, to := 0, 0; from < len(values); from = to {
		for to = from; to < len(values) && values[to] == values[from]; to++ {
		}
		if to-from > most {
			common, most = values[from], to-from
		}
	}
	return common
}
