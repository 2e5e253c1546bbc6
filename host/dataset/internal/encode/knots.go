package encode

import (
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
)

const (
	// mostBent is how many columns of numbers a table has at most whose numbers get knots: of more,
	// a linear model has features enough.
	mostBent = 50
	// mostKnotted is about how many examples, evenly from all, say where knots are.
	mostKnotted = 100000
)

// knots returns the knots of each column: quantiles of its numbers.
func (s *Encoder) knots(e dataset.Examples) [][]float32 {
	knots, values := make([][]float32, len(s.columns)), map[int32][]float32{}
	step := 1 + e.N/mostKnotted
	for k, c := range s.columns {
		if c.number != noMark {
			values[int32(k)] = make([]float32, (e.N+step-1)/step)
		}
	}
	if s.o.Knots == 0 || e.N < features.KnotExamples || len(values) > mostBent {
		return knots
	}
	for i := 0; i < e.N; i += step {
		marks, row := e.SparseRow(i)
		for k, m := range marks {
			v, kind := row[k], s.marks[m].kind
			if kind == isGap {
				v = float32(math.NaN())
			}
			if of := values[s.marks[m].column]; of != nil && (kind == isGap || kind == isNumber) {
				of[i/step] = v
			}
		}
	}
	for k, of := range values {
		of = slices.DeleteFunc(of, func(v float32) bool { return v != v })
		slices.Sort(of)
		knots[k] = cuts(of, s.o.Knots)
	}
	return knots
}

// cuts returns numbers between the least and the greatest of sorted values, which part these into
// n+1 parts of equally many. Where one value fills several parts, it is a cut, and n others part
// what is left.
func cuts(values []float32, n int) (found []float32) {
	if len(values) == 0 {
		return nil
	}
	low, high := values[0], values[len(values)-1]
	part := func(v []float32) (some []float32) {
		for k := 1; k <= n && len(v) > 0; k++ {
			some = append(some, v[k*len(v)/(n+1)])
		}
		return slices.Compact(some)
	}
	if found = part(values); len(found) < n {
		common := commonest(values)
		rest := slices.DeleteFunc(values, func(v float32) bool { return v == common })
		found = append(part(rest), common)
	}
	slices.Sort(found)
	found = slices.Compact(found)
	return slices.DeleteFunc(found, func(v float32) bool { return v <= low || v >= high })
}

// commonest returns the value that sorted values have most often.
func commonest(values []float32) (common float32) {
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
