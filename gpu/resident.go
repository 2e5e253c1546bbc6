//go:build linux && cgo && !noopencl

package gpu

import (
	"errors"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// resident is a data set on a device: scores, places and class sums in device memory, and as many
// examples as fit.
type resident struct {
	e       *deviceEngine
	n, d, q int
	tiles   []*tile
	own     buffers

	mostRows int // of a tile

	// Buffers for the transfers of one tile.
	ints    *buffer[int32]   // count and triples of moved examples, or predictions
	weights *buffer[float32] // rows of W, packed as the kernels want them
	classes *buffer[int32]   // the classes they belong to

	fixed      numerics.FixedPoint
	cells      *cellSums   // nil without labels
	sumBuffers *sumBuffers // nil but for evaluators

	x    dataset.Examples // the caller's
	slot arrays           // room for a tile that is streamed, else empty
}

func newResident(e *deviceEngine, x dataset.Examples, t engine.Task) (r *resident, err error) {
	r = &resident{e: e, n: x.N, d: x.D, q: t.Classes, fixed: t.Format, x: x,
		own: buffers{q: e.q}}
	if r.tiles, err = cutTiles(e, x, t.Classes, t.Use); err != nil {
		return nil, err
	}
	for _, tile := range r.tiles {
		r.mostRows = max(r.mostRows, tile.rows)
	}
	allocateResident(r, t.Use)
	switch t.Use {
	case engine.UseCells:
		r.cells = newCells(r, t.Labels)
	case engine.UseEvaluator:
		r.sumBuffers = newSumBuffers(r)
	}
	loadExamples(r) // at last: examples without room are streamed
	if r.own.err != nil {
		return nil, errors.Join(r.own.err, r.free())
	}
	return r, nil
}

// allocateResident makes room for all that is not examples or cells.
func allocateResident(r *resident, use engine.Use) {
	o := &r.own
	for _, t := range r.tiles {
		t.scores = filled[float32](o, "scores", t.stride*r.q, 0)
		if use == engine.UseCells {
			t.place = filled[int32](o, "places", t.rows, -1)
		}
	}
	group := groupSize(r, r.q)
	packed := (r.q + group - 1) / group * group
	_, err := fit("the weights", packed, 4*r.d, r.e.maxAlloc)
	o.note(err)
	r.weights = alloc[float32](o, "weights", packed*r.d)
	r.classes = alloc[int32](o, "classes", r.q)
	r.ints = alloc[int32](o, "moved examples", head+3*r.mostRows)
}

// free gives all memory back, when no kernel uses it any more.
func (r *resident) free() error {
	return errors.Join(r.e.q.settle(), r.own.free())
}

func (r *resident) Close() error {
	if r.e.compiled == nil {
		return nil // the engine went first and took the memory with it
	}
	return r.free()
}

func (r *resident) Rescore(w engine.Weights, classes []int) error {
	if len(classes) == 0 {
		return nil
	}
	if err := useWeights(r, w, classes); err != nil {
		return err
	}
	for _, t := range r.tiles {
		err := r.onDevice(t, func(x arrays) error { return scoreTile(r, t, x, len(classes)) })
		if err != nil {
			return err
		}
	}
	return nil
}

// scoresAtOnce returns how many of m classes are computed at once, as in atOnce. Two panels of 16
// classes waste less than one of 64; the second finds the examples in a cache.
func (e *deviceEngine) scoresAtOnce(m int) int {
	switch {
	case m <= atOnce[width4]:
		return width4
	case e.cpu || m <= 2*atOnce[width16]:
		return width16
	}
	return width64
}

// groupSize returns how many of m classes are side by side among weights, as in atOnce.
func groupSize(r *resident, m int) int {
	if r.x.Sparse() {
		return r.e.vector
	}
	return atOnce[r.e.scoresAtOnce(m)]
}

// useWeights brings rows of W to the device in groups, transposed (see kernels/score.cl and
// kernels/sparse.cl).
func useWeights(r *resident, w engine.Weights, classes []int) error {
	return errors.Join(r.classes.write(0, indices(classes)),
		r.weights.write(0, pack(w, classes, groupSize(r, len(classes)))))
}

// pack transposes rows of W in groups (see kernels/score.cl).
func pack(w engine.Weights, classes []int, group int) []float32 {
	packed := make([]float32, (len(classes)+group-1)/group*group*w.D)
	for i, c := range classes {
		at := i/group*group*w.D + i%group
		for j, v := range w.Row(c) {
			packed[at+j*group] = v
		}
	}
	return packed
}

// allClasses returns the classes 0 to q-1.
func allClasses(q int) []int {
	all := make([]int, q)
	for c := range all {
		all[c] = c
	}
	return all
}

// indices returns classes as the device takes them.
func indices(classes []int) []int32 {
	index := make([]int32, len(classes))
	for i, c := range classes {
		index[i] = int32(c)
	}
	return index
}

// scoreTile scores the first m classes of r.classes for all examples of a tile.
func scoreTile(r *resident, t *tile, x arrays, m int) error {
	if t.sparse != nil {
		return r.e.scoreSparse.launch(t.rows, (m+r.e.vector-1)/r.e.vector, scoreSparseArgs{
			x.sparseRows, r.weights, r.classes, t.scores, t.rows, r.d, r.q, m})
	}
	at := r.e.scoresAtOnce(m)
	k, group := r.e.dense.score[at], atOnce[at]
	groups := (m + group - 1) / group
	width, height := (t.rows+scoreRows-1)/scoreRows, groups
	if !r.e.cpu {
		items, tall, broad := r.e.tile(group)
		width, height = groups*group/broad*items, (t.rows+tall-1)/tall
	}
	return k.launch(width, height, scoreArgs{x.dense, r.weights, r.classes, t.scores, t.rows, r.d, r.q,
		m})
}

// blocks returns how many work-items take the examples of a tile: one for each, on a CPU one for
// each block.
func (e *deviceEngine) blocks(t *tile) int {
	if e.cpu {
		return t.stride / lanes
	}
	return t.stride
}

// crowd returns a number of work-items that keeps the device busy; each takes a share.
func crowd(e *deviceEngine) int {
	if e.cpu {
		return 256
	}
	return 1 << 15
}

// Scores reads lines of scores, some examples at a time, and puts them in the order of examples.
func (r *resident) Scores(dst []float32, from, to int) error {
	per := max(1, 1<<22/(r.q*lanes)) * lanes
	for _, t := range r.tiles {
		first, last := max(from-t.from, 0)/lanes*lanes, min(to-t.from, t.rows)
		if first < last && t.sparse != nil { // which has another order
			first, last = 0, t.rows
		}
		for ; first < last; first += per {
			n := min(per, last-first)
			lines := make([]float32, (n+lanes-1)/lanes*lanes*r.q)
			if err := t.scores.read(lines, first*r.q); err != nil {
				return err
			}
			for k := range n {
				i := t.example(first+k) - from
				for c := 0; i >= 0 && i < to-from && c < r.q; c++ {
					dst[i*r.q+c] = lines[scoreAt(k, c, r.q)]
				}
			}
		}
	}
	return nil
}

// scoreAt is where the score of example i for class c of q lies (SCORE of
// kernels/contract.cl).
func scoreAt(i, c, q int) int { return (i/lanes*q+c)*lanes + i%lanes }

func (r *resident) Predict(dst []int32) error {
	for _, t := range r.tiles {
		err := r.e.predict.launch(r.e.blocks(t), 1, predictArgs{t.scores, r.ints, t.rows, r.q})
		if err != nil {
			return err
		}
		part := dst[t.from : t.from+t.rows]
		if err := r.ints.read(part, 0); err != nil {
			return err
		}
		for k, class := range part {
			if class < 0 || int(class) >= r.q {
				return fmt.Errorf("kernel predict wrote class %d of example %d to buffer %q, wanted 0 to %d; "+
					"the device is at fault", class, t.example(k), r.ints.name, r.q-1)
			}
		}
		if t.sparse != nil {
			for k, class := range slices.Clone(part) {
				dst[t.example(k)] = class
			}
		}
	}
	return nil
}

// checkMemory refuses what cannot fit before anything of its size is allocated: class sums larger
// than the free device memory, and host memory beyond the limit of the process.
func checkMemory(e *deviceEngine, x dataset.Examples, t engine.Task) error {
	q, host := t.Classes, memory.Product(4, x.N, t.Classes)
	if t.Use == engine.UseEvaluator { // targets and residuals besides scores
		host = memory.Product(3*4, x.N, q)
	}
	if host = memory.Sum(host, memory.Product(4, x.Size())); !e.info.SharesMemory {
		host = 0
	}
	if t.Use == engine.UseCells {
		sums, free := memory.Product(8, q, q, x.D), max(0, e.q.memory-e.q.inUse)
		if sums > free {
			return fmt.Errorf("class sums of %d × %d cells × %d features on %s: %w: they take %d bytes, %d "+
				"of %d are free", q, q, x.D, e.info.ID(), engine.ErrMemory, sums, free, e.q.memory)
		}
		if e.info.SharesMemory {
			host += sums
		}
		// tables of cells, weights
		host += memory.Sum(memory.Product(2*8+3*4, q, q), memory.Product(4, q, x.D))
	}
	return memory.Check(host,
		fmt.Sprintf("what %d examples of %d features and %d classes take besides themselves",
			x.N, x.D, q))
}
