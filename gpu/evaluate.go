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
	if err := beginSums(r, r.q, losses); err != nil {
		return e, err
	}
	if r.classes.n == r.q { // one batch for all tiles
		if err := useWeights(r, w, allClasses(r.q)); err != nil {
			return e, err
		}
	}
	fused, readings, kernel := r.sumBuffers.fused && r.classes.n == r.q, int64(1), "evaluate"
	if !fused {
		kernel = "residuals"
	}
	if !fused && r.tiles[0].sparse == nil {
		readings = 2
	}
	for _, t := range r.tiles {
		err := r.onDevice(t, func(x arrays) error {
			if fused {
				return evaluateTile(r, t, x)
			}
			if err := eachBatch(r, w, func(m int) error { return scoreTile(r, t, x, m) }); err != nil {
				return err
			}
			return evaluateBands(r, t, x)
		})
		if err != nil {
			return e, errors.Join(err, r.drain())
		}
		r.e.q.work.ExampleBytes += readings * t.bytes(r.d)
		r.e.q.work.Rescored += int64(t.rows)
	}
	pairs := make([]int64, losses.n)
	if err := errors.Join(r.drain(), losses.read(pairs, 0), endSums(r, sums, r.q)); err != nil {
		return e, err
	}
	for k := 0; k < len(pairs); k += 2 {
		e.Loss += pairs[k]
		e.Refused += pairs[k+1]
	}
	if e.Refused < 0 || e.Refused > int64(r.n) {
		return e, fmt.Errorf("kernel %s refused %d of %d examples, by buffer %q; the device is at fault",
			kernel, e.Refused, r.n, losses.name)
	}
	return e, nil
}

// evaluateTile does all for a tile in one kernel.
func evaluateTile(r *resident, t *tile, x arrays) error {
	w := r.sumBuffers
	return r.e.dense.evaluate.launch(w.ranges, 1, evaluateArgs{x.dense, r.weights, r.classes, t.scores,
		t.targets, t.weight, w.coefs, w.losses, w.partial[0], r.fixed.Scale(), lossScale(r), t.rows, r.d,
		r.q, w.given, w.ranges})
}

// lossScale is 2^s of the fixed point of losses.
func lossScale(r *resident) float32 { return numerics.LossFormat(r.fixed.N).Scale() }

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
			lossScale(r)}); err != nil {
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
			return errors.Join(err, r.drain())
		}
		r.e.q.work.ExampleBytes += t.bytes(r.d)
	}
	return errors.Join(r.drain(), endSums(r, sums, n))
}

// sumBuffers is what an evaluator has besides its scores: room for the coefficients of some
// examples, and weighted sums by ranges of blocks (see kernels/weighted.cl).
type sumBuffers struct {
	sumShape
	coefs   *buffer[float32] // of the examples of a band
	losses  *buffer[int64]   // pairs (sum of losses, refused)
	partial []*buffer[int64] // sums by range, perBuffer classes in each buffer but for the last
	total   *buffer[int64]   // over the ranges; nil if there is one
	terms   *buffer[int32]   // of the total, as kernel add_groups wants them
	triples *buffer[int32]
	listed  int // the number of classes that terms and triples are of

	given bool // the targets
}

// sumShapeFor says how evaluations are cut.
type sumShape struct {
	fused     bool // one kernel does it all
	band      int  // examples whose residuals are there at a time
	ranges    int  // of blocks that are summed apart, so that there is work for all
	perBuffer int  // classes
	pairs     int  // of losses
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

// addParts is how many work-items share the ranges of a column on a GPU, if a work-group has them.
const addParts = 8

// addItems returns how many work-items of add_groups take the d columns of a sum.
func addItems(e *deviceEngine, d int) int {
	if e.cpu {
		return sumItems(e, d)
	}
	wide := e.group / min(e.group, addParts)
	return (d + wide - 1) / wide * e.group
}

// slabs returns how many work-items of weighted take the d columns of a block on a CPU.
func slabs(d int) int {
	return (d + weightedColumns - 1) / weightedColumns
}

// sumShapeFor returns how the examples of tiles of at most this number of rows are cut.
func sumShapeFor(e *deviceEngine, x dataset.Examples, rows, q int) (s sumShape, err error) {
	s.ranges = e.ranges(x.D, q, x.N)
	s.perBuffer = q
	if s.ranges == 1 {
		if s.perBuffer, err = fit("a weighted sum", 1, 8*x.D, e.maxAlloc); err != nil {
			return s, err
		}
		s.perBuffer = min(s.perBuffer, q)
	}
	s.band = rows // rows of sparse examples are in no order
	if !x.Sparse() {
		band := min(coefBytes, e.maxAlloc) / (4 * int64(q))
		s.band = min(rows, max(1, int(band)/numerics.Block)*numerics.Block)
		// Ranges are all the work there is for the fused kernel.
		blocks := (rows + numerics.Block - 1) / numerics.Block
		s.fused = e.cpu && !e.build.apart && s.perBuffer == q && min(s.ranges*numerics.Block,
			rows) <= s.band && (s.ranges >= min(2*e.info.ComputeUnits, blocks) || e.build.ranges > 0)
	}
	s.pairs = (residualItems(e, s.band) + e.group - 1) / e.group
	if e.cpu {
		s.pairs = max(s.pairs*e.group, s.ranges)
	}
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
	for low := 0; low < q; low += w.perBuffer {
		w.partial = append(w.partial,
			alloc[int64](o, "weighted sums", w.ranges*min(w.perBuffer, q-low)*r.d))
	}
	if w.ranges > 1 {
		w.total = alloc[int64](o, "weighted sums", q*r.d)
		w.terms = alloc[int32](o, "weighted sums by class", w.ranges*q)
		w.triples = alloc[int32](o, "classes", 3*q)
	}
	return w
}

// beginSums sets the sums of count classes to 0, and others.
func beginSums(r *resident, count int, others ...*buffer[int64]) error {
	w := r.sumBuffers
	all := append(others, w.partial[:(count+w.perBuffer-1)/w.perBuffer]...)
	if w.total != nil {
		all = append(all, w.total)
	}
	for some := range slices.Chunk(all, 3) { // as kernel clear_sums takes
		count := func(k int) (*buffer[int64], uint64) { // of the k-th; the last one again for none
			if k < len(some) {
				return some[k], uint64(some[k].n)
			}
			return some[len(some)-1], 0
		}
		var args clearSumsArgs
		args.A, args.CountA = count(0)
		args.B, args.CountB = count(1)
		args.C, args.CountC = count(2)
		most := int(max(args.CountA, args.CountB, args.CountC))
		if err := r.e.clearSums.launch(min(most, crowd(r.e)), 1, args); err != nil {
			return err
		}
	}
	return nil
}

// addWeightedSums adds the weighted sums of examples from..to-1 of a tile, whose coefficients for
// count classes, at most Q, are in coefs. to is the end of a block or of the tile.
func addWeightedSums(r *resident, t *tile, x arrays, from, to, count int) (err error) {
	w, e := r.sumBuffers, r.e
	for k, partial := range w.partial {
		low := k * w.perBuffer
		n := min(w.perBuffer, count-low)
		if n <= 0 {
			break
		}
		if s := t.sparse; s != nil {
			segments := len(s.byColumn.cuts) / 4
			err = e.weightedSparse.launch(max(1, segments*((n+e.vector-1)/e.vector)), 1,
				weightedSparseArgs{x.examples, x.byColumn, s.byColumn.segments, w.coefs, partial,
					r.fixed.Scale(), segments, r.d, count, low, n})
		} else {
			kernel, width, height := e.dense.weighted[0], slabs(r.d), w.ranges
			if !e.cpu {
				at := max(width16, e.scoresAtOnce(n))
				items, tall, broad := e.tile(atOnce[at])
				kernel = e.dense.weighted[at]
				width, height = (r.d+tall-1)/tall*items, w.ranges*((n+broad-1)/broad)
			}
			err = kernel.launch(width, height, weightedArgs{x.dense, w.coefs, partial, r.fixed.Scale(),
				from, to, r.d, count, low, n, w.ranges})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// endSums reads the weighted sums of count classes into sums, and waits for them.
func endSums(r *resident, sums []int64, count int) error {
	w, e := r.sumBuffers, r.e
	if w.ranges == 1 {
		for k, partial := range w.partial {
			low := k * w.perBuffer
			if low >= count {
				break
			}
			if err := partial.read(sums[low*r.d:min(low+w.perBuffer, count)*r.d], 0); err != nil {
				return err
			}
		}
		return nil
	}
	if err := w.list(count); err != nil {
		return err
	}
	if err := e.addGroups.launch(addItems(e, r.d), count, addGroupsArgs{w.partial[0], w.terms,
		w.triples,
		w.total, r.d}); err != nil {
		return err
	}
	return w.total.read(sums, 0)
}

// list writes the terms and triples of count classes, unless they are there.
func (w *sumBuffers) list(count int) error {
	if w.listed == count {
		return nil
	}
	w.listed = 0
	var terms, triples []int32
	for c := range count {
		triples = append(triples, int32(c), int32(c*w.ranges), int32((c+1)*w.ranges))
		for u := range w.ranges {
			terms = append(terms, int32(u*count+c))
		}
	}
	if err := errors.Join(w.terms.write(0, terms), w.triples.write(0, triples)); err != nil {
		return err
	}
	w.listed = count
	return nil
}
