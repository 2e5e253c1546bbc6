package simd

import "slices"

const (
	// sparseBlocks are the blocks of a task of Rescore.
	sparseBlocks = 32
	// sparseCost is how much longer a stored value takes than a dense one.
	sparseCost = 8
	// sparseMost is the most classes that a sparse kernel takes at once.
	sparseMost = 16
)

// packSparse writes the weights of all classes for one column side by side.
func packSparse(dst []float32, w [][]float32) {
	n := len(w)
	if n == 2 {
		w0, w1 := w[0], w[1]
		for j, v := range w0 {
			dst[2*j], dst[2*j+1] = v, w1[j]
		}
		return
	}
	const atOnce = 64 // columns, which stay in a first-level cache for all classes
	for from := 0; from < len(w[0]); from += atOnce {
		to := min(from+atOnce, len(w[0]))
		for c, row := range w {
			part := dst[from*n : to*n]
			for j, v := range row[from:to] {
				part[j*n+c] = v
			}
		}
	}
}

// sparseTask computes the scores of all passes for the blocks of one task.
func (r *resident) sparseTask(task int, own *worker) {
	r.scoreSparse(task*sparseBlocks, min((task+1)*sparseBlocks, r.blocks), own.floats)
}

// scoreSparse computes the scores of all passes for blocks from..to-1, with scratch for
// those of one block.
func (r *resident) scoreSparse(from, to int, scratch []float32) {
	for _, p := range r.passes {
		n := len(p.classes)
		at, _ := slices.BinarySearch(r.k.sparseWidths, n)
		for b := from; b < to; b++ {
			first, end := b*lanes, min((b+1)*lanes, r.x.N)
			out := scratch[:(end-first)*n]
			r.k.sparse[at](r.x.Starts[first:end+1], r.x.Columns, r.x.Values, p.w, out)
			for c, at := range p.lines {
				line := r.scores[b*r.q*lanes+at:]
				line = line[:end-first]
				for l := range line {
					line[l] = out[l*n+c]
				}
			}
		}
	}
}
