package encode

import (
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

const (
	// mostBent is how many columns of numbers a table has at most whose numbers get knots: of more,
	// a linear model has features enough.
	mostBent = 50
	// mostKnotted is about how many examples, evenly from all, say where knots are.
	mostKnotted = 100000
)

// knotsOf returns the knots of each column: quantiles of its numbers.
func knotsOf(s *Encoder, e dataset.Examples) [][]float32 {
	knots, values := make([][]float32, len(s.columns)), map[int32][]float64{}
	for k, c := range s.columns {
		if c.number != noMark {
			values[int32(k)] = nil
		}
	}
	if s.o.Knots == 0 || e.N < features.KnotExamples || len(values) > mostBent {
		return knots
	}
	row := make([]float64, len(s.columns))
	for i := 0; i < e.N; i += 1 + e.N/mostKnotted {
		clear(row)
		marks, found := e.SparseRow(i)
		for k, m := range marks {
			if row[s.marks[m].column] = float64(found[k]); s.marks[m].kind == isGap {
				row[s.marks[m].column] = math.NaN()
			}
		}
		for k := range values {
			if v := row[k]; v == v {
				values[k] = append(values[k], v)
			}
		}
	}
	for k, numbers := range values {
		slices.Sort(numbers)
		knots[k] = cuts(numbers, s.o.Knots)
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
