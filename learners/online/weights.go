package online

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// row is an example: all its values, or if columns is not nil those of these columns.
type row struct {
	columns []int32
	values  []float32
}

// rowOf returns example i of x, sharing memory.
func rowOf(x dataset.Examples, i int) row {
	if !x.Sparse() {
		return row{values: x.Row(i)}
	}
	columns, values := x.SparseRow(i)
	return row{columns, values}
}

// norms2 returns ‖x‖² of all examples (clause 1).
func norms2(x dataset.Examples) ([]float32, error) {
	all := make([]float32, x.N)
	parallel.Ranges(x.N, 1+100000/(1+x.D), func(from, to int) {
		for i := from; i < to; i++ {
			switch r := rowOf(x, i); {
			case !x.Sparse():
				all[i] = numerics.Dot(r.values, r.values)
			default:
				all[i] = squaredSparse(r)
			}
		}
	})
	for i, v := range all {
		if v-v != 0 {
			return nil, fmt.Errorf("online: found example %d of the data, the squared length of which is too large for "+
				"float32; normalise the features", i+1)
		}
	}
	return all, nil
}

// squaredSparse returns ‖x‖² of stored values, as numerics.SparseDot chains them.
func squaredSparse(r row) float32 {
	var total, acc float32
	chunk := int32(0)
	for k, j := range r.columns {
		if c := j / numerics.Chunk; c != chunk {
			total, acc, chunk = total+acc, 0, c
		}
		acc = numerics.FMA(r.values[k], r.values[k], acc)
	}
	return total + acc
}

// scoresOf writes the scores of x, one for each class (clause 1).
func scoresOf(dst []float32, w engine.Weights, x row) {
	for r := range dst {
		if x.columns == nil {
			dst[r] = numerics.Dot(x.values, w.Row(r))
		} else {
			dst[r] = numerics.SparseDot(x.columns, x.values, w.Row(r))
		}
	}
}

// addTo adds t·x to w, the weights of a class.
func (x row) addTo(w []float32, t float32) {
	for k, v := range x.values {
		j := k
		if x.columns != nil {
			j = int(x.columns[k])
		}
		if v != 0 {
			w[j] = numerics.FMA(t, v, w[j])
		}
	}
}

// addLate adds t·x to the sums of a class, each product rounded before it is added.
func (x row) addLate(sums []float64, t float64) {
	for k, v := range x.values {
		j := k
		if x.columns != nil {
			j = int(x.columns[k])
		}
		sums[j] += float64(t * float64(v))
	}
}
