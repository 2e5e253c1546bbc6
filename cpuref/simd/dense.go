package simd

import (
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// dense is how the kernels see dense examples: in blocks of 16 rows of at least
// four columns, so that no kernel has to check the width.
type dense struct {
	d     int       // columns of a row
	whole []float32 // the whole blocks: the caller's memory, if it has four columns
	// a copy of the block that is not whole, filled up with zeros; nil if there is none
	last []float32
}

func newDense(x dataset.Examples) dense {
	v := dense{d: max(x.D, 4)}
	blocks := blocksOf(x.N)
	if x.D < v.d {
		v.whole = make([]float32, blocks*lanes*v.d)
		for i := range x.N {
			copy(v.whole[i*v.d:], x.Row(i))
		}
		return v
	}
	rest := x.N / lanes * lanes * x.D
	v.whole = x.X[:rest]
	if rest < len(x.X) {
		v.last = make([]float32, lanes*x.D)
		copy(v.last, x.X[rest:])
	}
	return v
}

// packed returns how many values pack writes for n classes.
func (v dense) packed(n int) int { return (v.d + 3) / 4 * 4 * n }

// packWeights writes the weights of n classes, rows of w, as the dense kernels want them:
// the weights of all classes for one column side by side, columns in groups of
// four. The last group ends with the row; the columns that it shares with the
// group before have weight 0 in it, and so have columns that pad a row to four.
func (v dense) pack(dst []float32, w [][]float32) {
	n, d := len(w), len(w[0])
	last := (v.d+3)/4*4 - 4
	whole := min(last, d)
	for c, row := range w {
		for j, value := range row[:whole] {
			dst[j*n+c] = value
		}
		for j := last; j < last+4; j++ {
			column := j - (last + 4 - v.d)
			dst[j*n+c] = 0
			if column >= last && column < d {
				dst[j*n+c] = row[column]
			}
		}
	}
}

const (
	// taskBytes is about what one call of a dense kernel reads: it stays in a
	// second-level cache for the next classes, and a goroutine that is to stop
	// soon can.
	taskBytes = 256 << 10
	// minAhead is how early examples are fetched at least.
	minAhead = 4 << 10
	// wholeRate is the rate of a kernel that fetches as many bytes as it reads.
	wholeRate = 256
)

// blocksPerTask returns how many blocks one task of Rescore takes.
func (v dense) blocksPerTask() int { return max(1, taskBytes/(4*lanes*v.d)) }

// ahead returns how many bytes before their use examples are fetched: a block,
// because a block is not read in the order of memory.
func (v dense) ahead() int {
	block := 4 * lanes * v.d
	if block > taskBytes {
		return 0 // it would not stay in the cache; rows so long are foreseen by the processor
	}
	return max(block, minAhead)
}

// denseTask computes the scores of all passes for the blocks of one task.
func denseTask(r *resident, task int, _ *worker) {
	from, to := denseBlocks(r, task)
	ahead, rate := r.dense.ahead(), wholeRate
	for i := range r.passes {
		scoreDense(r, &r.passes[i], from, to, r.scores[from*r.q*lanes:], r.q*lanes, ahead, rate)
		ahead, rate = 0, 0 // the next pass finds it in the cache
	}
}

// denseBlocks returns which blocks a task of denseTasks takes.
func denseBlocks(r *resident, task int) (from, to int) {
	per := r.dense.blocksPerTask()
	return task * per, min((task+1)*per, r.blocks)
}

// scoreDense computes the scores of a pass for blocks from..to-1. Those of the next block lie
// step values further on.
func scoreDense(r *resident, p *pass, from, to int, scores []float32, step, ahead, rate int) {
	v, kernel, whole := &r.dense, p.dense(r.k), to
	if to == r.blocks && v.last != nil {
		whole--
	}
	if whole > from {
		kernel(v.whole[from*lanes*v.d:], v.d, whole-from, p.w, p.lines, scores, step, ahead, rate)
	}
	if whole < to {
		kernel(v.last, v.d, 1, p.w, p.lines, scores[(whole-from)*step:], step, 0, 0)
	}
}

// dense returns the kernel for the classes of a pass.
func (p *pass) dense(k *kernels) denseKernel {
	at, _ := slices.BinarySearch(k.widths, len(p.lines))
	return k.dense[at]
}

const (
	// sparseBlocks are the blocks of a task of Rescore.
	sparseBlocks = 32
	// sparseCost is how much longer a stored value takes than a dense one.
	sparseCost = 8
	// sparseMost is the most classes that a sparse kernel takes at once.
	sparseMost = 32
)

// packColumns are the columns of a task that packs weights.
const packColumns = 4096

// packTask packs the weights of some columns for the sparse kernels: the weights of all classes
// of a pass for one column side by side.
func packTask(r *resident, task int, _ *worker) {
	parts := panels(r.x.D, packColumns)
	p, first := &r.passes[task/parts], task%parts*packColumns
	last, n := min(first+packColumns, r.x.D), len(p.classes)
	const atOnce = 64 // columns, which stay in a first-level cache for all classes
	for from := first; from < last; from += atOnce {
		to := min(from+atOnce, last)
		for c, class := range p.classes {
			part := p.w[from*n : to*n]
			for j, v := range r.weights.Row(class)[from:to] {
				part[j*n+c] = v
			}
		}
	}
}

// sparseTask computes the scores of all passes for the blocks of one task.
func sparseTask(r *resident, task int, own *worker) {
	scoreSparse(r, task*sparseBlocks, min((task+1)*sparseBlocks, r.blocks), own.floats)
}

// scoreSparse computes the scores of all passes for blocks from..to-1, with scratch for
// the scores of one block.
func scoreSparse(r *resident, from, to int, scratch []float32) {
	for _, p := range r.passes {
		n := len(p.classes)
		at, _ := slices.BinarySearch(r.k.sparseWidths, n)
		for b := from; b < to; b++ {
			first, end := b*lanes, min((b+1)*lanes, r.x.N)
			out := scratch[:(end-first)*n]
			r.k.sparse[at](r.x.Starts[first:end+1], r.x.Columns, r.x.Values, p.w, n, out)
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

// pass is one use of a kernel on all examples: as many classes as it takes at
// once. If there are too few, the last is repeated.
type pass struct {
	classes []int
	lines   []int     // where the scores of each class lie in a block
	w       []float32 // packed
}

// Rescore: clause 1.
func (r *resident) Rescore(w engine.Weights, classes []int) error {
	if len(classes) == 0 {
		return nil
	}
	work := r.x.Size() * len(classes)
	preparePasses(r, w, classes)
	if r.x.Sparse() {
		r.run(sparseTask, panels(r.blocks, sparseBlocks), work*sparseCost,
			lanes*sparseMost)
		return nil
	}
	r.run(denseTask, panels(r.blocks, r.dense.blocksPerTask()), work, 0)
	return nil
}

// preparePasses plans and packs the passes in which all examples are read once for some classes.
func preparePasses(r *resident, w engine.Weights, classes []int) {
	if r.x.Sparse() {
		planPasses(r, classes, r.k.sparseWidths, r.k.fewer)
	} else {
		planPasses(r, classes, r.k.widths, false)
	}
	packWeights(r, w)
}

// planPasses cuts the classes in passes of some of the widths, which increase, or of fewer classes.
func planPasses(r *resident, classes []int, widths []int, fewer bool) {
	used := 0
	for len(classes) > 0 {
		least, _ := slices.BinarySearch(widths, len(classes))
		n := widths[min(least, len(widths)-1)]
		if fewer {
			n = min(n, len(classes))
		}
		if used == len(r.passes) {
			r.passes = append(r.passes, pass{})
		}
		p := &r.passes[used]
		used++
		p.classes, p.lines = p.classes[:0], p.lines[:0]
		for c := range n {
			class := classes[min(c, len(classes)-1)]
			p.classes, p.lines = append(p.classes, class), append(p.lines, class*lanes)
		}
		classes = classes[min(n, len(classes)):]
	}
	r.passes = r.passes[:used]
}

// packWeights packs the weights of all passes.
func packWeights(r *resident, w engine.Weights) {
	r.weights = w
	size := 0
	for i := range r.passes {
		p := &r.passes[i]
		if r.x.Sparse() {
			p.w = resize(p.w, r.x.D*len(p.classes))
			size += len(p.w)
			continue
		}
		r.rows = r.rows[:0]
		for _, c := range p.classes {
			r.rows = append(r.rows, w.Row(c))
		}
		p.w = resize(p.w, r.dense.packed(len(p.classes)))
		r.dense.pack(p.w, r.rows)
	}
	if r.x.Sparse() {
		r.run(packTask, len(r.passes)*panels(r.x.D, packColumns), size*sparseCost, 0)
	}
}

// resize returns a slice of n values, in the memory of s if it suffices.
func resize[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

func (r *resident) Scores(dst []float32, from, to int) error {
	for i := from; i < to; i++ {
		for c := range r.q {
			dst[(i-from)*r.q+c] = r.scores[(i/lanes*r.q+c)*lanes+i%lanes]
		}
	}
	return nil
}
