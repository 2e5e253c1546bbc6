package simd

import (
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
)

// pass is one use of a kernel on all examples: as many classes as it takes at
// once. If there are too few, the last stands for the missing ones.
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
	r.prepare(w, classes)
	if r.x.Sparse() {
		r.run((*resident).sparseTask, panels(r.blocks, sparseBlocks), work*sparseCost,
			lanes*sparseMost)
		return nil
	}
	r.sweep((*resident).denseTask, r.denseTasks(), r.dense.blocksPerTask()*lanes, work, 0)
	return nil
}

// prepare plans and packs the passes in which all examples are read once for some classes.
func (r *resident) prepare(w engine.Weights, classes []int) {
	r.e.rescored.Add(int64(r.x.N))
	r.read()
	widths := r.k.widths
	if r.x.Sparse() {
		widths = r.k.sparseWidths
	}
	r.plan(classes, widths)
	r.pack(w)
}

// read counts one reading of the examples.
func (r *resident) read() {
	bytes := 4 * int64(r.x.Size())
	if r.x.Sparse() {
		bytes *= 2
	}
	r.e.exampleBytes.Add(bytes)
}

// denseTasks returns the number of tasks that denseTask is for.
func (r *resident) denseTasks() int { return panels(r.blocks, r.dense.blocksPerTask()) }

// plan cuts the classes in passes of some of the widths, which increase.
func (r *resident) plan(classes []int, widths []int) {
	used := 0
	for len(classes) > 0 {
		least, _ := slices.BinarySearch(widths, len(classes))
		n := widths[min(least, len(widths)-1)]
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

// pack packs the weights of all passes.
func (r *resident) pack(w engine.Weights) {
	for i := range r.passes {
		p := &r.passes[i]
		r.rows = r.rows[:0]
		for _, c := range p.classes {
			r.rows = append(r.rows, w.Row(c))
		}
		if r.x.Sparse() {
			p.w = resize(p.w, r.x.D*len(p.classes))
			packSparse(p.w, r.rows)
		} else {
			p.w = resize(p.w, r.dense.packed(len(p.classes)))
			r.dense.pack(p.w, r.rows)
		}
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
