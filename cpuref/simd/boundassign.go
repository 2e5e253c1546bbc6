package simd

// assignBounded finds the moves of an assignment that uses bounds.
func (r *resident) assignBounded() {
	r.prepareBounded()
	s, c := r.sketches, r.cells
	n := r.blocks * lanes
	r.run((*resident).boundTask, r.placeTasks(), n*(r.q*boundCost+len(s.changes)*s.depth), 0)
	for i := range ones(s.open, r.x.N) {
		s.list = append(s.list, int32(i))
	}
	listed := len(s.list)
	r.bounds.Open = listed
	tasks := panels(blocksOf(listed), listBlocks)
	r.run((*resident).listTask, tasks, listed*r.x.D*(r.q+listCost), lanes*(r.dense.d+r.q))
	for at := range ones(c.changed[:blocksOf(listed)], listed) {
		r.follow(int(s.list[at]), c.now[at], s.summed[at/lanes]>>(at%lanes)&1 != 0)
	}
	r.e.rescored.Add(int64(listed))
	r.e.exampleBytes.Add(int64(listed) * 4 * int64(r.x.D))
	// The sketch, and 4 bytes for each other number of an example.
	r.e.exampleBytes.Add(int64(r.x.N) * int64(s.depth+4*(2+r.q+2*len(s.changes)+2)))
}

const (
	listBlocks = 4  // blocks of listed examples in a task
	boundCost  = 16 // of a class of an example, beside the multiplication of a dense value
	listCost   = 8  // of a value that is brought from memory
)

// boundTask moves the estimates of the examples of one task and finds those whose
// place is not sure.
func (r *resident) boundTask(task int, _ *worker) {
	s := r.sketches
	from, to := task*placeBlocks, min((task+1)*placeBlocks, r.blocks)
	scores := r.scores[from*r.q*lanes : to*r.q*lanes]
	for _, p := range s.changes {
		r.k.bounds.estimate(s.sketch[from*s.depth*lanes:to*s.depth*lanes], s.depth, p.w, p.lines, scores,
			r.q*lanes)
	}
	h, first, end := r.bounds.History, from*lanes, to*lanes
	r.k.bounds.open(scores, r.q, r.cells.alpha, s.rho[first:end], s.nu[first:end], s.slack, h.Eta,
		h.Theta, s.scored[first:end], r.now(), r.cells.place[first:end], s.open[from:to])
}

// listTask takes some blocks of 16 listed examples.
func (r *resident) listTask(task int, own *worker) {
	list := r.sketches.list
	blocks := blocksOf(len(list))
	if r.window > 0 {
		rows := list[task*listBlocks*lanes : min((task+1)*listBlocks*lanes, len(list))]
		r.x.Pages().FetchSome(int(rows[0]), int(rows[len(rows)-1])+1, len(rows),
			func(k int) int { return int(rows[k]) })
	}
	for k := task * listBlocks; k < min((task+1)*listBlocks, blocks); k++ {
		r.listBlock(k, own)
	}
}

// listBlock scores 16 listed examples for all classes, finds their places, and sums
// the moving ones as far as there is room.
func (r *resident) listBlock(k int, own *worker) {
	s, c, d := r.sketches, r.cells, r.dense.d
	first := k * lanes
	list := s.list[first:min(first+lanes, len(s.list))]
	x, scores := own.floats[:lanes*d], own.floats[lanes*d:]
	row := func(at int) []float32 { return r.dense.row(int(s.list[min(at, len(s.list)-1)])) }
	for l := range lanes {
		from := first + min(l, len(list)-1) // the last example stands for missing ones
		r.k.bounds.copy(x[l*d:(l+1)*d], row(from), row(from+1))
		s.before[first+l] = c.place[s.list[from]]
	}
	for _, p := range r.passes {
		p.dense(r.k)(x, d, 1, p.w, p.lines, scores, r.q*lanes, 0)
	}
	r.k.region(scores, r.q, c.alpha, s.before[first:], c.now[first:], c.changed[k:k+1])
	now := r.now()
	s.summed[k] = 0
	for l, i := range list {
		s.scored[i] = now
		at := int(i)/lanes*r.q*lanes + int(i)%lanes
		for class := range r.q {
			r.scores[at+class*lanes] = scores[class*lanes+l]
		}
		if c.changed[k]>>l&1 == 0 {
			continue
		}
		label := r.y[i]
		from, to := c.cell(s.before[first+l], label, r.q), c.cell(c.now[first+l], label, r.q)
		if from == to || from == noCell || to == noCell {
			continue
		}
		if sum := own.groups.sum(from, to, r.x.D); sum != nil {
			// Examples of the next block are fetched meanwhile.
			r.k.add(sum, x[l*d:l*d+r.x.D], r.fixed.Scale(), row(first + lanes + l)[:r.x.D])
			s.summed[k] |= 1 << l
		}
	}
}
