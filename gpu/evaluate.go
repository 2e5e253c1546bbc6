//go:build linux && cgo && !noopencl

package gpu

import (
	"errors"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// targetRows is how many targets go to the device at once.
const targetRows = 1 << 14

func (r *resident) SetTargets(targets engine.Targets) error {
	for _, t := range r.tiles {
		for from := 0; from < t.stride; from += targetRows {
			if err := writeTargets(r, t, targets, from, min(from+targetRows, t.stride)); err != nil {
				return err
			}
		}
	}
	r.sumBuffers.given = targets.Given
	return nil
}

// writeTargets brings the targets and weights of rows from..to-1 of the scores of a tile to the
// device; of those beyond its examples, zeros.
func writeTargets(r *resident, t *tile, targets engine.Targets, from, to int) error {
	lines, weight := make([]float32, (to-from)*r.q), make([]float32, to-from)
	for row := from; row < min(to, t.rows); row++ {
		i := t.example(row)
		weight[row-from] = 1
		if targets.Weight != nil {
			weight[row-from] = targets.Weight[i]
		}
		if targets.Row != nil {
			i = int(targets.Row[i])
		}
		for c, v := range targets.Values[i*r.q : (i+1)*r.q] {
			lines[scoreAt(row-from, c, r.q)] = v
		}
	}
	return errors.Join(t.targets.write(from*r.q, lines), t.weight.write(from, weight))
}

// Evaluate: clauses 1, 15, 16 and 14, tile by tile and in a tile band by band.
func (r *resident) Evaluate(sums []int64, w engine.Weights) (engine.Evaluation, error) {
	var e engine.Evaluation
	losses := r.sumBuffers.losses
	if err := errors.Join(beginSums(r, r.q), useWeights(r, w, allClasses(r.q))); err != nil {
		return e, err
	}
	for _, t := range r.tiles {
		err := r.onDevice(t, func(x arrays) error {
			if err := scoreTile(r, t, x, r.q); err != nil {
				return err
			}
			return evaluateBands(r, t, x)
		})
		if err != nil {
			return e, err
		}
	}
	err := errors.Join(readLosses(r, losses, &e), endSums(r, sums, r.q))
	return e, err
}

// readLosses adds up pairs of losses.
func readLosses(r *resident, losses *buffer[int64], e *engine.Evaluation) error {
	pairs := make([]int64, losses.n)
	if err := losses.read(pairs, 0); err != nil {
		return err
	}
	for k := 0; k < len(pairs); k += 2 {
		e.Loss += pairs[k]
		e.Refused += pairs[k+1]
	}
	if e.Refused < 0 || e.Refused > int64(r.n) {
		return fmt.Errorf("kernel residuals refused %d of %d examples, by buffer %q; the device is "+
			"at fault", e.Refused, r.n, losses.name)
	}
	return nil
}

// evaluateBands makes residuals of the scores of a tile, and adds their weighted sums.
func evaluateBands(r *resident, t *tile, x arrays) error {
	w, e := r.sumBuffers, r.e
	order := r.ints
	if t.sparse != nil {
		order = t.sparse.byColumn.order
	}
	for from := 0; from < t.rows; from += w.band {
		to := min(from+w.band, t.rows)
		if err := e.residuals.launch(residualItems(e, to-from), 1, residualsArgs{t.scores, t.targets,
			t.weight, order, w.coefs, w.losses, from, to, r.q, w.given, t.sparse != nil,
			numerics.LossFormat(r.fixed.N).Scale(), r.ints, 0}); err != nil {
			return err
		}
		if err := addWeightedSums(r, t, x, from, to, r.q); err != nil {
			return err
		}
	}
	return nil
}

func (r *resident) WeightedSums(sums []int64, a []float32) error {
	count := len(a) / r.n
	for low := 0; low < count; low += r.q {
		n := min(r.q, count-low)
		if err := weightedSumsOf(r, sums[low*r.d:(low+n)*r.d], a, count, low, n); err != nil {
			return err
		}
	}
	return nil
}

// weightedSumsOf is WeightedSums for n classes of count, low and more, at most Q.
func weightedSumsOf(r *resident, sums []int64, a []float32, count, low, n int) error {
	if err := beginSums(r, n); err != nil {
		return err
	}
	w := r.sumBuffers
	var packed []float32
	for _, t := range r.tiles {
		err := r.onDevice(t, func(x arrays) error {
			for from := 0; from < t.rows; from += w.band {
				to := min(from+w.band, t.rows)
				coefs := a[(t.from+from)*count : (t.from+to)*count]
				if n < count {
					packed = slices.Grow(packed[:0], (to-from)*n)
					for ; len(coefs) > 0; coefs = coefs[count:] {
						packed = append(packed, coefs[low:low+n]...)
					}
					coefs = packed
				}
				if err := w.coefs.write(0, coefs); err != nil {
					return err
				}
				if err := addWeightedSums(r, t, x, from, to, n); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return endSums(r, sums, n)
}

// sumBuffers is what an evaluator has besides its scores: room for the coefficients of some
// examples, and weighted sums by ranges of blocks (see kernels/weighted.cl).
type sumBuffers struct {
	sumShape
	coefs   *buffer[float32] // of the examples of a band
	losses  *buffer[int64]   // pairs (sum of losses, refused)
	partial *buffer[int64]   // sums by range
	total   *buffer[int64]   // over the ranges; nil if there is one

	given bool // the targets
}

// sumShape says how evaluations are cut.
type sumShape struct {
	band   int // examples whose residuals are there at a time
	ranges int // of blocks that are summed apart, so that there is work for all
	pairs  int // of losses
}

// What partial sums may take where there are several ranges: for each core of a CPU, on a GPU; and
// coefficients of dense examples.
const (
	partialPerCore = 1 << 20
	partialOnGPU   = 64 << 20
	coefBytes      = 64 << 20
)

// ranges returns in how many ranges weighted sums of q classes are kept: on a CPU enough of them
// for its cores to end at about the same time.
func (e *deviceEngine) ranges(d, q, rows int) int {
	blocks, limit := (rows+numerics.Block-1)/numerics.Block, int64(partialOnGPU)
	wanted := blocks
	if e.cpu {
		limit = int64(e.info.ComputeUnits) * partialPerCore
		wanted = 8 * e.info.ComputeUnits
	}
	if e.build.ranges > 0 {
		wanted = e.build.ranges
	}
	limit = min(limit, e.maxAlloc, e.q.memory/32)
	return max(1, min(blocks, wanted, int(limit/(8*int64(d)*int64(q)))))
}

// slabs returns how many work-items of weighted take the d columns of a block on a CPU.
func slabs(d int) int {
	return (d + weightedColumns - 1) / weightedColumns
}

// sumShapeFor returns how the examples of tiles of at most this number of rows are cut.
func sumShapeFor(e *deviceEngine, x dataset.Examples, rows, q int) (s sumShape, err error) {
	s.ranges = e.ranges(x.D, q, x.N)
	if _, err = fit("the weighted sums", q, 8*x.D, e.maxAlloc); err != nil {
		return s, err
	}
	s.band = rows // rows of sparse examples are in no order
	if !x.Sparse() {
		band := min(coefBytes, e.maxAlloc) / (4 * int64(q))
		s.band = min(rows, max(1, int(band)/numerics.Block)*numerics.Block)
	}
	s.pairs = lossPairs(e, s.band)
	if _, err = fit("the coefficients of a block", s.band*q+lanes, 4, e.maxAlloc); err != nil {
		return s, err
	}
	_, err = fit("losses", 2*s.pairs, 8, e.maxAlloc)
	return s, err
}

// residualItems returns how many work-items of kernel residuals take that number of examples; if
// there are more, each takes several.
func residualItems(e *deviceEngine, rows int) int {
	if e.cpu {
		return min((rows+e.vector-1)/e.vector, 256)
	}
	return min(rows, 512*e.group)
}

// lossPairs returns how many pairs of losses kernel residuals writes of that number of examples.
func lossPairs(e *deviceEngine, rows int) int {
	pairs := (residualItems(e, rows) + e.group - 1) / e.group
	if e.cpu {
		return pairs * e.group
	}
	return pairs
}

func newSumBuffers(r *resident) *sumBuffers {
	w, o, q := &sumBuffers{}, &r.own, r.q
	var err error
	w.sumShape, err = sumShapeFor(r.e, r.x, r.mostRows, q)
	if o.note(err); err != nil {
		return w
	}
	for _, t := range r.tiles {
		t.targets = alloc[float32](o, "targets", t.stride*q)
		t.weight = alloc[float32](o, "weights of examples", t.stride)
	}
	// Some are read that nothing is made of.
	w.coefs = filled[float32](o, "coefficients", w.band*q+lanes, 0)
	w.losses = alloc[int64](o, "losses", 2*w.pairs)
	w.partial = alloc[int64](o, "weighted sums", w.ranges*q*r.d)
	if w.ranges > 1 {
		w.total = alloc[int64](o, "weighted sums", q*r.d)
	}
	return w
}

// beginSums sets the losses and the sums of count classes to 0.
func beginSums(r *resident, count int) error {
	w := r.sumBuffers
	n := w.ranges * count * r.d
	return r.e.clearSums.launch(min(n, crowd(r.e)), 1, clearSumsArgs{w.partial, uint64(n), w.losses,
		uint64(w.losses.n)})
}

// addWeightedSums adds the weighted sums of examples from..to-1 of a tile, whose coefficients for
// count classes, at most Q, are in coefs. to is the end of a block or of the tile.
func addWeightedSums(r *resident, t *tile, x arrays, from, to, count int) error {
	w, e, scale := r.sumBuffers, r.e, r.fixed.Scale()
	if s := t.sparse; s != nil {
		segments := len(s.byColumn.cuts) / 4
		return e.weightedSparse.launch(max(1, segments*((count+e.vector-1)/e.vector)), 1,
			weightedSparseArgs{x.examples, x.byColumn, s.byColumn.segments, w.coefs, w.partial, scale,
				segments, r.d, count})
	}
	kernel, width, height := e.dense.weighted[0], slabs(r.d), w.ranges
	if !e.cpu {
		at := max(width16, e.scoresAtOnce(count))
		items, tall, broad := e.tile(atOnce[at])
		kernel = e.dense.weighted[at]
		width, height = (r.d+tall-1)/tall*items, w.ranges*((count+broad-1)/broad)
	}
	return kernel.launch(width, height, weightedArgs{x.dense, w.coefs, w.partial, scale, from, to, r.d,
		count, w.ranges})
}

// adders is how many work-items share the ranges of a sum on a GPU, if a work-group has them.
const adders = 8

// endSums reads the weighted sums of count classes into sums, and waits for them.
func endSums(r *resident, sums []int64, count int) error {
	w, e, n := r.sumBuffers, r.e, count*r.d
	if w.ranges == 1 {
		return w.partial.read(sums, 0)
	}
	return e.addUp(sums[:n], w.partial, w.total, w.ranges)
}

// addUp adds up sums by ranges and reads them.
func (e *deviceEngine) addUp(sums []int64, partial, total *buffer[int64], ranges int) error {
	n := len(sums)
	items := sumItems(e, n)
	if !e.cpu {
		wide := e.group / min(e.group, adders)
		items = (n + wide - 1) / wide * e.group
	}
	if err := e.addRanges.launch(items, 1, addRangesArgs{partial, total, uint64(n),
		ranges}); err != nil {
		return err
	}
	return total.read(sums, 0)
}
