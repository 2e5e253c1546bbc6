package simd

import "math/bits"

// assignBounded finds the moves of an assignment that uses bounds.
func (r *resident) assignBounded() {
	b, c := r.bounds, r.cells
	n := r.blocks * lanes
	r.run((*resident).boundTask, r.placeTasks(), n*(r.q*boundCost+len(b.changes)*b.depth), 0)
	for k, mask := range b.open {
		for ; mask != 0; mask &= mask - 1 {
			b.list = append(b.list, int32(k*lanes+bits.TrailingZeros16(mask)))
		}
	}
	for len(b.list) > 0 && int(b.list[len(b.list)-1]) >= r.x.N {
		b.list = b.list[:len(b.list)-1] // lanes without an example
	}
	listed := len(b.list)
	r.run((*resident).listTask, (blocksOf(listed)+listBlocks-1)/listBlocks, listed*r.x.D*(r.q+listCost), lanes*(r.dense.d+r.q))
	for k, mask := range c.changed[:blocksOf(listed)] {
		for ; mask != 0; mask &= mask - 1 {
			if at := k*lanes + bits.TrailingZeros16(mask); at < listed {
				r.follow(int(b.list[at]), c.now[at], b.summed[k]&(mask&-mask) != 0)
			}
		}
	}
	r.e.rescored.Add(int64(listed))
	r.e.exampleBytes.Add(int64(listed)*4*int64(r.x.D) +
		int64(r.x.N)*int64(b.depth+4*(2+r.q+2*len(b.changes)+2))) // the sketch, and 4 bytes for each other number of an example
}

const (
	listBlocks = 4  // blocks of listed examples in a task
	boundCost  = 16 // of a class of an example, beside the multiplication of a dense value
	listCost   = 8  // of a value that is brought from memory
)

// boundTask moves the estimates of the examples of one task and finds those whose
// place is not sure.
func (r *resident) boundTask(task int, _ *worker) {
	b := r.bounds
	from, to := task*placeBlocks, min((task+1)*placeBlocks, r.blocks)
	scores := r.scores[from*r.q*lanes : to*r.q*lanes]
	for _, p := range b.changes {
		r.k.bounds.estimate(b.sketch[from*b.depth*lanes:to*b.depth*lanes], b.depth, p.w, p.lines, scores, r.q*lanes)
	}
	h, first, end := b.history, from*lanes, to*lanes
	r.k.bounds.open(scores, r.q, r.cells.alpha, b.rho[first:end], b.nu[first:end], b.slack, h.Eta, h.Theta,
		b.scored[first:end], b.now(), r.cells.place[first:end], b.open[from:to])
}

// listTask takes some blocks of 16 listed examples.
func (r *resident) listTask(task int, own *worker) {
	blocks := blocksOf(len(r.bounds.list))
	for k := task * listBlocks; k < min((task+1)*listBlocks, blocks); k++ {
		r.listBlock(k, own)
	}
}

// listBlock scores 16 listed examples for all classes, finds their places, and sums
// those that move as far as there is room.
func (r *resident) listBlock(k int, own *worker) {
	b, c, d := r.bounds, r.cells, r.dense.d
	first := k * lanes
	list := b.list[first:min(first+lanes, len(b.list))]
	x, scores := own.floats[:lanes*d], own.floats[lanes*d:]
	row := func(at int) []float32 { return r.dense.row(int(b.list[min(at, len(b.list)-1)])) }
	for l := range lanes {
		from := first + min(l, len(list)-1) // the last example stands for missing ones
		r.k.bounds.copy(x[l*d:(l+1)*d], row(from), row(from+1))
		b.before[first+l] = c.place[b.list[from]]
	}
	for _, p := range r.passes {
		p.dense(r.k)(x, d, 1, p.w, p.lines, scores, r.q*lanes, 0)
	}
	r.k.region(scores, r.q, c.alpha, b.before[first:], c.now[first:], c.changed[k:k+1])
	now := b.now()
	b.summed[k] = 0
	for l, i := range list {
		b.scored[i] = now
		at := int(i)/lanes*r.q*lanes + int(i)%lanes
		for class := range r.q {
			r.scores[at+class*lanes] = scores[class*lanes+l]
		}
		if c.changed[k]>>l&1 == 0 {
			continue
		}
		label := r.y[i]
		from, to := c.cell(b.before[first+l], label, r.q), c.cell(c.now[first+l], label, r.q)
		if from == to || from == noCell || to == noCell {
			continue
		}
		if sum := own.groups.sum(from, to, r.x.D); sum != nil {
			// Examples of the next block are fetched meanwhile.
			r.k.add(sum, x[l*d:l*d+r.x.D], r.fixed.Scale(), row(first + lanes + l)[:r.x.D])
			b.summed[k] |= 1 << l
		}
	}
}
