//go:build linux && cgo && !noopencl

package gpu

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// bins are binned examples on a device: the bins, scores, gradients and nodes of each tile.
type bins struct {
	*resident // with tiles of scores and targets
	b         dataset.Binned
	stride    int
	binTiles  []*binTile
	losses    *buffer[int64]
	zeros     *buffer[float32] // what a kernel is given that it does not use

	growth engine.Growth
	often  bool // an example counts more than once
	limit  int  // examples whose gradients fit into a cell of kernel histogram

	// Room that grows as it is wanted.
	features       *buffer[int32]
	partial, total *buffer[int64]
	lefts          *buffer[int32]
	tree           *buffer[int32]
	values         *buffer[float32]
}

// binTile is what a tile has besides scores and targets.
type binTile struct {
	*tile
	bins   *buffer[uint8]
	grads  *buffer[int32]
	order  [2]*buffer[int32] // nodes are ranges of either
	labels *buffer[int32]
	times  *buffer[uint8]
	nodes  map[int]binRange
}

// binRange is a range of order[in].
type binRange struct{ in, from, to int }

// LoadBins compiles what binned examples need, and loads them.
func (e *deviceEngine) LoadBins(b dataset.Binned, q, all int) (engine.LoadedBins, error) {
	_, _, evaluator, trees := e.library()
	if err := e.compile(evaluator, trees); err != nil {
		return nil, err
	}
	r, err := newBins(e, b, q, all)
	if err != nil {
		return nil, fmt.Errorf("%d examples of %d features in bins on %s: %w", b.N, b.F, e.info.ID(), err)
	}
	return r, nil
}

func newBins(e *deviceEngine, b dataset.Binned, q, all int) (*bins, error) {
	r := &bins{b: b, stride: (b.F + 7) / 8 * 8}
	r.resident = &resident{e: e, n: b.N, d: 1, q: q, own: buffers{q: e.q},
		fixed: numerics.FixedPoint{N: all}, sumBuffers: &sumBuffers{}}
	// The largest arrays of a tile: bins, and gradients or scores.
	most, err := fit("the bins or gradients of an example", lanes, max(r.stride, 8*q), e.maxAlloc)
	if err != nil {
		return nil, err
	}
	rows := min(most*lanes, 1<<29)
	o := &r.own
	for from := 0; from < b.N; from += rows {
		t := &binTile{tile: &tile{from: from, rows: min(rows, b.N-from)}}
		t.stride = (t.rows + lanes - 1) / lanes * lanes
		r.mostRows = max(r.mostRows, t.rows)
		t.scores = filled[float32](o, "scores", t.stride*q, 0)
		t.targets = alloc[float32](o, "targets", t.stride*q)
		t.weight = alloc[float32](o, "weights of examples", t.stride)
		t.grads = alloc[int32](o, "gradients", 2*t.rows*q)
		t.labels = alloc[int32](o, "labels", t.rows)
		t.times = alloc[uint8](o, "times", t.rows)
		for k := range t.order {
			t.order[k] = alloc[int32](o, "order", t.rows)
		}
		t.bins = alloc[uint8](o, "bins", t.rows*r.stride)
		r.tiles, r.binTiles = append(r.tiles, t.tile), append(r.binTiles, t)
		if o.err == nil {
			o.note(r.writeRows(t))
		}
	}
	r.losses = alloc[int64](o, "losses", 2*lossPairs(e, r.mostRows))
	r.zeros = filled[float32](o, "zeros", lanes, 0)
	r.ints = alloc[int32](o, "order", lanes) // which no kernel reads
	if o.err != nil {
		return nil, errors.Join(o.err, r.free())
	}
	return r, nil
}

// writeRows brings the bins of a tile to the device, row by row.
func (r *bins) writeRows(t *binTile) error {
	const most = 1 << 14
	rows := make([]uint8, min(most, t.rows)*r.stride)
	for from := 0; from < t.rows; from += most {
		n := min(most, t.rows-from)
		for f := range r.b.F {
			for k, bin := range r.b.Column(f)[t.from+from:][:n] {
				rows[k*r.stride+f] = bin
			}
		}
		if err := t.bins.write(from*r.stride, rows[:n*r.stride]); err != nil {
			return err
		}
	}
	return nil
}

// roomFor makes b at least n values long; it has none of its values afterwards.
func roomFor[T element](r *bins, b **buffer[T], name string, n int) error {
	if *b != nil && (*b).n >= n {
		return nil
	}
	if n > int(r.e.maxAlloc)/8 {
		return fmt.Errorf("%w: %s of %d values do not fit into one allocation of %d bytes",
			engine.ErrMemory, name, n, r.e.maxAlloc)
	}
	if *b != nil {
		r.own.all = slices.DeleteFunc(r.own.all, func(v interface{ free() error }) bool {
			return v == *b
		})
		if err := (*b).free(); err != nil {
			return err
		}
	}
	*b = alloc[T](&r.own, name, n)
	err := r.own.err
	r.own.err = nil
	return err
}

// Gradients: clause 24.
func (r *bins) Gradients() (e engine.Evaluation, err error) {
	clear := clearSumsArgs{r.losses, 0, r.losses, uint64(r.losses.n)}
	if err := r.e.clearSums.launch(min(r.losses.n, crowd(r.e)), 1, clear); err != nil {
		return e, err
	}
	for _, t := range r.binTiles {
		err := r.e.residuals.launch(residualItems(r.e, t.rows), 1, residualsArgs{t.scores, t.targets,
			t.weight, r.ints, r.zeros, r.losses, 0, t.rows, r.q, r.sumBuffers.given, false,
			numerics.LossFormat(r.fixed.N).Scale(), t.grads, t.rows})
		if err != nil {
			return e, err
		}
	}
	err = readLosses(r.resident, r.losses, &e)
	return e, err
}

// Start writes which examples are in the bag of each tile.
func (r *bins) Start(g engine.Growth) error {
	r.growth, r.often = g, false
	most := 1
	for _, t := range r.binTiles {
		order := make([]int32, 0, t.rows)
		for i := range int32(t.rows) {
			m := 1
			if g.Times != nil {
				m = int(g.Times[t.from+int(i)])
			}
			if most = max(most, m); m > 0 {
				order = append(order, i)
			}
		}
		t.nodes = map[int]binRange{0: {0, 0, len(order)}}
		if len(order) > 0 {
			// Both, so that a place that a fault leaves unwritten has an example.
			if err := errors.Join(t.order[0].write(0, order), t.order[1].write(0, order)); err != nil {
				return err
			}
		}
		if g.Labels != nil {
			if err := t.labels.write(0, g.Labels[t.from:t.from+t.rows]); err != nil {
				return err
			}
		}
	}
	if r.often = most > 1; r.often {
		for _, t := range r.binTiles {
			if err := t.times.write(0, g.Times[t.from:t.from+t.rows]); err != nil {
				return err
			}
		}
	}
	r.limit = r.e.cellLimit() / most
	return nil
}

// What kernel histogram keeps for a work-group: see kernels/trees.cl.
const cellFeatures = 8

// cellLimit returns how many gradients fit into a cell: |g| is at most 2^18, h 2^16.
func (e *deviceEngine) cellLimit() int {
	if e.cpu {
		return 1<<14 - 1 // h has 30 bits
	}
	return 1<<13 - 1 // g has 32 bits, one of them its sign
}

// Histogram: clause 25. Features are taken together as far as their sums fit into a buffer.
func (r *bins) Histogram(dst []int64, node int, features []int) error {
	width := r.growth.Width(r.q)
	most := int(r.e.maxAlloc / 8)
	for len(features) > 0 {
		n, size := 0, 0
		for n < len(features) && (n == 0 || size+r.b.Counts[features[n]]*width <= most) {
			size += r.b.Counts[features[n]] * width
			n++
		}
		if err := r.histogramOf(dst[:size], node, features[:n], width); err != nil {
			return err
		}
		dst, features = dst[size:], features[n:]
	}
	return nil
}

func (r *bins) histogramOf(dst []int64, node int, features []int, width int) error {
	var about []int32
	at := 0
	for _, f := range features {
		about = append(about, int32(f), int32(at), int32(r.b.Counts[f]))
		at += r.b.Counts[f] * width
	}
	counted, cells := r.growth.Labels != nil, 2*cellFeatures
	if r.e.cpu && counted {
		cells = cellFeatures
	}
	wide := min(width, cells)
	per := min(cellFeatures, cells/wide)
	groups := (len(features) + per - 1) / per
	ranges := rangesFor(r, node, groups, len(dst))
	err := errors.Join(roomFor(r, &r.features, "features of histograms", len(about)),
		roomFor(r, &r.partial, "histograms by range", ranges*len(dst)),
		roomFor(r, &r.total, "histograms", len(dst)))
	if err == nil {
		err = r.features.write(0, about)
	}
	if err != nil {
		return err
	}
	for low := 0; low < width; low += wide {
		for k, t := range r.binTiles {
			own := t.nodes[node]
			err := r.e.histogram.launch(ranges*r.e.histogram.local, groups, histogramArgs{
				Bins: t.bins, Order: t.order[own.in], Grads: t.grads, Labels: t.labels, Times: t.times,
				Features: r.features, Partial: r.partial, Size: uint64(len(dst)), Rows: t.rows,
				Stride: r.stride, From: own.from, To: own.to, Ranges: ranges, Class: r.growth.Class,
				Counted: counted, Often: r.often, Width: width, Low: low, Wide: min(wide, width-low),
				Limit: r.limit, Count: len(features), Per: per, Fresh: k == 0})
			if err != nil {
				return err
			}
		}
	}
	if ranges == 1 {
		return r.partial.read(dst, 0)
	}
	return r.e.addUp(dst, r.partial, r.total, ranges)
}

// rangesFor returns in how many ranges the examples of a node are added up apart, so that there is
// work for all.
func rangesFor(r *bins, node, groups, size int) int {
	n := 0
	for _, t := range r.binTiles {
		own := t.nodes[node]
		n = max(n, own.to-own.from)
	}
	grain, wanted, limit := 1024, 8*r.e.info.ComputeUnits/groups, int64(partialOnGPU)
	if r.e.cpu {
		grain, wanted, limit = 4096, (4*r.e.info.ComputeUnits+groups-1)/groups, 16*partialPerCore
	}
	wanted = cmp.Or(r.e.build.ranges, min(wanted, (n+grain-1)/grain))
	limit = min(limit, r.e.maxAlloc, r.e.q.memory/32)
	return max(1, min(wanted, int(limit/(8*int64(size)))))
}

// Split: clause 25. Spans of examples are counted on the device, and the host says where each goes.
func (r *bins) Split(node, feature int, left engine.BinSet, children [2]int,
) (counts [2]int64, err error) {
	set := binSet{left[0], left[1], left[2], left[3]}
	for _, t := range r.binTiles {
		own := t.nodes[node]
		n := own.to - own.from
		middle := own.from
		if n > 0 {
			if middle, err = splitTile(r, t, own, feature, set); err != nil {
				return counts, err
			}
		}
		t.nodes[children[0]] = binRange{1 - own.in, own.from, middle}
		t.nodes[children[1]] = binRange{1 - own.in, middle, own.to}
		counts[0] += int64(middle - own.from)
		counts[1] += int64(own.to - middle)
	}
	return counts, nil
}

// splitTile moves the examples of a node to the other order of a tile, and returns where the right
// child begins.
func splitTile(r *bins, t *binTile, own binRange, feature int, set binSet) (middle int,
	err error) {
	n, local := own.to-own.from, r.e.splitCount.local
	span := 1024
	if r.e.cpu {
		span = max(4096, (n+4*r.e.info.ComputeUnits-1)/(4*r.e.info.ComputeUnits))
	}
	lefts := make([]int32, (n+span-1)/span)
	if err := roomFor(r, &r.lefts, "splits", len(lefts)); err != nil {
		return 0, err
	}
	err = r.e.splitCount.launch(len(lefts)*local, 1, splitCountArgs{t.bins, t.order[own.in], r.lefts,
		t.rows, r.stride, feature, own.from, own.to, span, set})
	if err != nil {
		return 0, err
	}
	if err := r.lefts.read(lefts, 0); err != nil {
		return 0, err
	}
	left, err := sumLefts(lefts, n, span)
	if err != nil {
		return 0, err
	}
	middle = own.from + left
	return middle, errors.Join(r.lefts.write(0, lefts), r.e.splitMove.launch(len(lefts)*local, 1,
		splitMoveArgs{t.bins, t.order[own.in], t.order[1-own.in], r.lefts, t.rows, r.stride,
			feature, own.from, own.to, span, middle, set}))
}

// sumLefts replaces the counts of examples on the left, of each span of n examples, by the sums of
// the counts before, and returns the sum of all. Counts come from a device, and are judged.
func sumLefts(lefts []int32, n, span int) (sum int, err error) {
	for k, count := range lefts {
		lefts[k] = int32(sum)
		if most := min(span, n-k*span); count < 0 || int(count) > most {
			return 0, fmt.Errorf("kernel split_count counted %d of %d examples; the device is at fault",
				count, most)
		}
		sum += int(count)
	}
	return sum, nil
}

// Add: clause 26.
func (r *bins) Add(t engine.Tree, class int) error {
	var nodes []int32
	for _, n := range t.Nodes {
		nodes = append(nodes, n.Feature, n.Children[0], n.Children[1], 0)
		for _, word := range n.Left {
			nodes = append(nodes, int32(uint32(word)), int32(uint32(word>>32)))
		}
	}
	err := errors.Join(roomFor(r, &r.tree, "nodes", max(len(nodes), 12)),
		roomFor(r, &r.values, "values of leaves", len(t.Values)))
	if err == nil {
		err = errors.Join(r.tree.write(0, nodes), r.values.write(0, t.Values))
	}
	if err != nil {
		return err
	}
	leaves := len(t.Values)
	if class == -1 {
		leaves /= r.q
	}
	for _, own := range r.binTiles {
		if err := r.e.addTree.launch(own.rows, 1, addTreeArgs{own.bins, r.tree, r.values, own.scores,
			r.stride, own.rows, r.q, class, len(t.Nodes), leaves}); err != nil {
			return err
		}
	}
	return nil
}
