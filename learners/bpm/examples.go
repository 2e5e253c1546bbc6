package bpm

import "github.com/uma-gpu/uma-gpu/host/dataset"

// each calls f for the values of example i that are not 0, in increasing order of the columns.
func each(x dataset.Examples, i int, f func(j int, v float64)) {
	if !x.Sparse() {
		for j, v := range x.Row(i) {
			if v != 0 {
				f(j, float64(v))
			}
		}
		return
	}
	columns, values := x.SparseRow(i)
	for k, j := range columns {
		if values[k] != 0 {
			f(int(j), float64(values[k]))
		}
	}
}

// used returns the columns in which an example is not 0, in increasing order; one if there is
// none.
func used(x dataset.Examples) (columns []int) {
	is := make([]bool, x.D)
	for i := range x.N {
		each(x, i, func(j int, _ float64) { is[j] = true })
	}
	for j, yes := range is {
		if yes {
			columns = append(columns, j)
		}
	}
	if columns == nil {
		columns = []int{0}
	}
	return columns
}

// rows returns the columns of all examples, one example after the other.
func rows(x dataset.Examples, columns []int) []float64 {
	d := len(columns)
	at, all := make([]int, x.D), make([]float64, x.N*d)
	for k, j := range columns {
		at[j] = k
	}
	for i := range x.N {
		row := all[i*d : (i+1)*d]
		each(x, i, func(j int, v float64) { row[at[j]] = v })
	}
	return all
}
