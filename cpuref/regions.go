package cpuref

import (
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// Rescore: clause 1.
func (r *resident) Rescore(w engine.Weights, classes []int) error {
	parallel.Ranges(r.x.N, 64, func(from, to int) {
		for i := from; i < to; i++ {
			for _, c := range classes {
				r.scores[i*r.q+c] = dot(r.x, i, w.Row(c))
			}
		}
	})
	return nil
}

// dot is ⟨x_i, w⟩, such as the score of example i with the weights w of one class.
func dot(x dataset.Examples, i int, w []float32) float32 {
	if !x.Sparse() {
		return numerics.Dot(x.Row(i), w)
	}
	columns, values := x.SparseRow(i)
	var dot [1]float32
	numerics.SparseDots(dot[:], columns, values, w)
	return dot[0]
}

func (r *resident) Scores(dst []float32, from, to int) error {
	copy(dst, r.scores[from*r.q:])
	return nil
}

func (r *resident) Predict(dst []int32) error {
	parallel.Ranges(r.x.N, 1024, func(from, to int) {
		for i := from; i < to; i++ {
			dst[i], _ = predict(r.scores[i*r.q : (i+1)*r.q])
		}
	})
	return nil
}

// predict returns the predicted class and its margin: clause 4.
func predict(scores []float32) (class int32, margin float32) {
	best, second := float32(math.Inf(-1)), float32(math.Inf(-1))
	for c, s := range scores {
		switch {
		case s > best:
			second, best, class = best, s, int32(c)
		case s > second:
			second = s
		}
	}
	return class, best - second
}

// Assign: clauses 4 and 5. The class sums are kept up to date by moving only
// the examples whose region changed; integer sums do not care in what order.
func (r *cells) Assign(alpha float32) (engine.Assignment, error) {
	parallel.Ranges(r.x.N, 1024, func(from, to int) {
		for i := from; i < to; i++ {
			pred, margin := predict(r.scores[i*r.q : (i+1)*r.q])
			r.next[i] = next{pred, outside}
			if margin >= alpha {
				r.next[i].region = pred
			}
		}
	})
	var moves []move
	for i, k := range r.y {
		pred, region, k := r.next[i].pred, r.next[i].region, int(k)
		if r.pred[i] != pred {
			count(r.predicted, r.q, r.pred[i], k, -1)
			count(r.predicted, r.q, pred, k, +1)
			r.pred[i] = pred
		}
		if r.region[i] != region {
			count(r.regions, r.q, r.region[i], k, -1)
			count(r.regions, r.q, region, k, +1)
			moves = append(moves, move{i, r.region[i], region})
			r.region[i] = region
		}
	}
	parallel.Ranges(r.x.D, 16, func(from, to int) { r.moveSums(moves, from, to) })
	return engine.Assignment{
		Regions:   append([]int64(nil), r.regions...),
		Predicted: append([]int64(nil), r.predicted...),
		Moved:     len(moves),
	}, nil
}

// next is where an example goes in the assignment under way.
type next struct{ pred, region int32 }

// move says that example i left one region for another; either may be outside.
type move struct {
	i        int
	from, to int32
}

func count(table []int64, q int, p int32, k int, by int64) {
	if p != outside {
		table[int(p)*q+k] += by
	}
}

// moveSums brings columns from..to-1 of the class sums up to date.
func (r *cells) moveSums(moves []move, from, to int) {
	scale := r.fixed.Scale()
	add := func(m move, p int32, sign int64) {
		if p == outside {
			return
		}
		sum := r.sums[(int(p)*r.q+int(r.y[m.i]))*r.x.D:]
		if !r.x.Sparse() {
			for j, v := range r.x.Row(m.i)[from:to] {
				sum[from+j] += sign * numerics.Quantize(v, scale)
			}
			return
		}
		columns, values := r.x.SparseRow(m.i)
		first, _ := slices.BinarySearch(columns, int32(from))
		for k := first; k < len(columns) && int(columns[k]) < to; k++ {
			sum[columns[k]] += sign * numerics.Quantize(values[k], scale)
		}
	}
	for _, m := range moves {
		add(m, m.from, -1)
		add(m, m.to, +1)
	}
}

func (r *cells) ClassSums(dst []int64, p int) error {
	copy(dst, r.sums[p*r.q*r.x.D:])
	return nil
}
