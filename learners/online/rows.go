package online

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/learners/internal/lanes"
)

// rowOf returns example i of x, sharing memory.
func rowOf(x dataset.Examples, i int) lanes.Row {
	columns, values := x.Entries(i)
	return lanes.Row{Columns: columns, Values: values}
}

// measure finds ‖x‖² of all examples before the first pass, those of another run if it has the
// same examples.
func (l *learner) measure(other *learner) (err error) {
	if l.norms2 != nil {
		return nil
	}
	of, have := l.Problem.X, other.Problem.X
	same := func(a, b []float32) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }
	if other.norms2 != nil && of.N == have.N && same(of.X, have.X) && same(of.Values, have.Values) {
		l.norms2 = other.norms2
		return nil
	}
	l.norms2, err = norms2(of)
	return err
}

// norms2 returns ‖x‖² of all examples (clause 1).
func norms2(x dataset.Examples) ([]float32, error) {
	all := make([]float32, x.N)
	parallel.Ranges(x.N, 1+100000/(1+x.D), func(from, to int) {
		for i := from; i < to; i++ {
			if r := rowOf(x, i); x.Sparse() {
				all[i] = squaredSparse(r)
			} else {
				all[i] = numerics.Dot(r.Values, r.Values)
			}
		}
	})
	for i, v := range all {
		if v-v != 0 {
			return nil, fmt.Errorf("online: found example %d of the data, whose squared length is "+
				"too large for float32; normalise the features", i+1)
		}
	}
	return all, nil
}

// squaredSparse returns ‖x‖² of stored values, as numerics.SparseDots chains them.
func squaredSparse(r lanes.Row) float32 {
	var total, acc float32
	chunk := int32(0)
	for k, j := range r.Columns {
		if c := j / numerics.Chunk; c != chunk {
			total, acc, chunk = total+acc, 0, c
		}
		acc = numerics.FMA(r.Values[k], r.Values[k], acc)
	}
	return total + acc
}
