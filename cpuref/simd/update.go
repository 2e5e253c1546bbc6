package simd

import (
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
)

// norms remembers the norms of one inverse; a step moves examples of few regions.
type norms struct {
	known   []float32 // ‖z_pq‖², Q×Q, of the regions that are not stale
	stale   []bool    // regions whose class sums, or the inverse, changed since
	inverse []float32 // B, Q×Q
	bt      []float32 // B transposed, in groups of 16 classes: [(group·Q + k)·16 + lane]
	batch   []int     // stale regions that are not empty
	partial []float32 // chunk results: [((batch·chunks + chunk)·groups + group)·16 + lane]
	g       []float32 // class sums in float32, Q rows of 256 columns for each task
	z       []float32 // 256 values of an update vector
}

func newNorms(q int) norms {
	n := norms{known: make([]float32, q*q), stale: make([]bool, q), g: make([]float32, q*chunk),
		z: make([]float32, chunk)}
	for p := range n.stale {
		n.stale[p] = true
	}
	return n
}

// touch notes that the class sum of a cell changed.
func (n *norms) touch(cell int32, q int) {
	if cell != noCell {
		n.stale[int(cell)/q] = true
	}
}

// use makes inv the inverse that the norms are of.
func (n *norms) use(inv []float32, q int) {
	if slices.Equal(inv, n.inverse) {
		return
	}
	n.inverse = append(n.inverse[:0], inv...)
	n.bt = resize(n.bt, blocksOf(q)*q*lanes)
	clear(n.bt)
	for c := range q {
		for k := range q {
			n.bt[(c/lanes*q+k)*lanes+c%lanes] = inv[c*q+k]
		}
	}
	for p := range n.stale {
		n.stale[p] = true
	}
}

// Norms: clause 6, every pair.
func (r labelled) Norms(dst, inv []float32) error {
	n := &r.cells.norms
	n.use(inv, r.q)
	n.batch = n.batch[:0]
	for p, stale := range n.stale {
		switch {
		case !stale:
		case slices.Max(r.cells.regions[p*r.q:(p+1)*r.q]) == 0: // zero sums, and so zero update vectors
			clear(n.known[p*r.q : (p+1)*r.q])
		default:
			n.batch = append(n.batch, p)
		}
		n.stale[p] = false
	}
	chunks, groups := chunks(r.x.D), blocksOf(r.q)
	tasks := len(n.batch) * chunks
	n.partial = resize(n.partial, tasks*groups*lanes)
	r.run(normTask, tasks, len(n.batch)*r.x.D*r.q*groups*lanes, r.q*chunk)
	for i, p := range n.batch {
		known := n.known[p*r.q : (p+1)*r.q]
		for c := range known {
			var total float32
			for at := range chunks {
				total += n.partial[(i*chunks+at)*groups*lanes+c]
			}
			known[c] = total
		}
	}
	copy(dst, n.known)
	return nil
}

// normTask computes the chunk results of one chunk of one region.
func normTask(r *resident, task int, own *worker) {
	n := &r.cells.norms
	chunks, groups := chunks(r.x.D), blocksOf(r.q)
	g := own.floats
	columns := floatSums(r, g, n.batch[task/chunks], task%chunks)
	for group := range groups {
		at := (task*groups + group) * lanes
		bt := n.bt[group*r.q*lanes : (group+1)*r.q*lanes]
		r.k.norms(g, columns, bt, r.fixed.Unit(), n.partial[at:at+lanes])
	}
}

// floatSums converts one chunk of columns of the class sums of region p, one row of
// g for each label, and returns how many columns it has.
func floatSums(r *resident, g []float32, p, at int) (columns int) {
	from := at * chunk
	columns = min(chunk, r.x.D-from)
	for k := range r.q {
		sum := classSum(r, int32(p*r.q+k))[from : from+columns]
		r.k.toFloat(g[k*chunk:k*chunk+columns], sum)
	}
	return columns
}

// UpdateVectors: clause 6.
func (r labelled) UpdateVectors(dst []float32, pairs []engine.Pair, inv []float32) error {
	n, unit := &r.cells.norms, r.fixed.Unit()
	for at := 0; at*chunk < r.x.D; at++ {
		columns := 0
		for i, pair := range pairs {
			if i == 0 || pair.P != pairs[i-1].P {
				columns = floatSums(r.resident, n.g, pair.P, at)
			}
			z := n.z[:(columns+31)/32*32]
			r.k.combine(z, n.g, inv[pair.Q*r.q:(pair.Q+1)*r.q], unit)
			copy(dst[i*r.x.D+at*chunk:][:columns], z)
		}
	}
	return nil
}
