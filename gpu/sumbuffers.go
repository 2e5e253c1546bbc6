//go:build cgo && !noopencl

package gpu

import (
	"errors"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

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

	given int32 // 1 if the targets are given
}

// sumShape says how evaluations are cut.
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
	partialOnGPU   = 32 << 20
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
func (e *deviceEngine) slabs(d int) int {
	return (d + weightedColumns - 1) / weightedColumns
}

// sumShape returns how the examples of tiles of at most this number of rows are cut.
func (e *deviceEngine) sumShape(x dataset.Examples, rows, q int) (s sumShape, err error) {
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
	s.pairs = (e.residualItems(s.band) + e.group - 1) / e.group
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
func (e *deviceEngine) residualItems(rows int) int {
	if e.cpu {
		return min((rows+e.vector-1)/e.vector, 256)
	}
	return min(rows, 512*e.group)
}

func (r *resident) newSumBuffers() *sumBuffers {
	w, o, q := &sumBuffers{}, &r.own, r.q
	var err error
	w.sumShape, err = r.e.sumShape(r.x.Examples, r.mostRows, q)
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

// clear sets sums to 0.
func (e *deviceEngine) clear(sums *buffer[int64]) error {
	return e.clearSums.launch(min(sums.n, e.crowd()), 1, sums, uint64(sums.n))
}

// begin clears the sums of count classes.
func (r *resident) beginSums(count int) error {
	w := r.sumBuffers
	for k := range w.partial {
		if k*w.perBuffer < count {
			if err := r.e.clear(w.partial[k]); err != nil {
				return err
			}
		}
	}
	return nil
}

// addSums adds the weighted sums of examples from..to-1 of a tile, whose coefficients for count
// classes, at most Q, are in coefs. to is that of a block or of the tile.
func (r *resident) addSums(t *tile, x arrays, from, to, count int) (err error) {
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
				x.examples, x.byColumn, s.byColumn.segments, w.coefs, partial, r.fixed.Scale(),
				int32(segments), int32(r.d), int32(count), int32(low), int32(n))
		} else {
			width, height := e.slabs(r.d), w.ranges
			if !e.cpu {
				width, height = r.d, w.ranges*((n+weightedClasses-1)/weightedClasses)
			}
			err = e.dense[t.width].weighted.launch(width, height,
				append(r.examples(t, x), w.coefs, partial, r.fixed.Scale(), int32(from), int32(to),
					int32(r.d), int32(count), int32(low), int32(n), int32(w.ranges))...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// weightedClasses is how many classes a work-item of weighted takes on a GPU.
const weightedClasses = 16

// endSums reads the weighted sums of count classes into sums, and waits for them.
func (r *resident) endSums(sums []int64, count int) error {
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
	var terms, triples []int32
	for c := range count {
		triples = append(triples, int32(c), int32(c*w.ranges), int32((c+1)*w.ranges))
		for u := range w.ranges {
			terms = append(terms, int32(u*count+c))
		}
	}
	if err := errors.Join(w.terms.write(0, terms), w.triples.write(0, triples),
		e.clear(w.total)); err != nil {
		return err
	}
	if err := e.addGroups.launch(e.sumItems(r.d), count, w.partial[0], w.terms, w.triples, w.total,
		int32(r.d)); err != nil {
		return err
	}
	return w.total.read(sums, 0)
}
