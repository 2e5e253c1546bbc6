package simd

import (
	"encoding/binary"
	"sync"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

const (
	groupSize    = 8       // features whose bins are loaded at once
	blockRows    = 2048    // examples whose bins stay in the first caches
	gradientBits = 30      // of h in a packed sum; g, at most 4·h in size, has the others
	hessianBits  = 16      // one h is at most 2^16
	mostPacked   = 5       // classes whose counts are packed in one number, at most
	fewRows      = 48      // examples that are not worth packed sums
	mostGroups   = 32      // groups of features of a task
	sumGrain     = 1 << 14 // examples and groups that are worth a processor
)

// binKernels are the inner loops of trees.
type binKernels struct {
	// aligned adds value[k] to the sums of the bins of eight features, one after another, the first at
	// rows[at[k]].
	aligned func(sums *[groupSize][256]int64, rows []uint8, at []int, value []int64)
	// picked does so for the features at these places of a row, whose number is 4 or 8.
	picked func(sums *[groupSize][256]int64, rows []uint8, at []int, places []int, value []int64)
	// partition moves the examples whose bin is on the left to the front, and the others to right; it
	// returns how many are left. Both keep their order.
	partition func(order, right []int32, column []uint8, isLeft *[256]uint8) int
	// limit returns how many examples a packed sum holds, if each adds at most most to a part of the
	// given number of bits.
	limit func(bits, most int) int
	// same reports whether a node of a tree is one that grew here.
	same func(s *nodeSplit, n engine.Node) bool
}

var binGo = binKernels{aligned: alignedGo, picked: pickedGo, partition: partitionGo,
	limit: limitGo, same: sameGo}

func limitGo(bits, most int) int { return (1<<bits - 1) / max(1, most) }

func sameGo(s *nodeSplit, n engine.Node) bool {
	return s != nil && s.feature == int(n.Feature) && s.left == n.Left
}

func alignedGo(sums *[groupSize][256]int64, rows []uint8, at []int, value []int64) {
	at = at[:len(value)]
	for k, v := range value {
		bins := binary.LittleEndian.Uint64(rows[at[k]:])
		sums[0][uint8(bins)] += v
		sums[1][uint8(bins>>8)] += v
		sums[2][uint8(bins>>16)] += v
		sums[3][uint8(bins>>24)] += v
		sums[4][uint8(bins>>32)] += v
		sums[5][uint8(bins>>40)] += v
		sums[6][uint8(bins>>48)] += v
		sums[7][uint8(bins>>56)] += v
	}
}

func pickedGo(sums *[groupSize][256]int64, rows []uint8, at []int, places []int, value []int64) {
	at = at[:len(value)]
	a, b, c, d := places[0], places[1], places[2], places[3]
	for k, v := range value {
		row := rows[at[k]:]
		sums[0][row[a]] += v
		sums[1][row[b]] += v
		sums[2][row[c]] += v
		sums[3][row[d]] += v
	}
	if len(places) == 4 {
		return
	}
	a, b, c, d = places[4], places[5], places[6], places[7]
	for k, v := range value {
		row := rows[at[k]:]
		sums[4][row[a]] += v
		sums[5][row[b]] += v
		sums[6][row[c]] += v
		sums[7][row[d]] += v
	}
}

// featureGroup is up to eight features whose sums are taken together.
type featureGroup struct {
	features []int
	to       [groupSize]int // where the sums of each begin in a histogram
	first    int            // its first place in a row, if it is aligned; else -1
	places   []int          // else: four or eight; some of them twice
}

// groups cuts features into groups.
func groupsOf(r *bins, features []int, width int) (all []featureGroup) {
	to := 0
	for len(features) > 0 {
		n := min(groupSize, len(features))
		g := featureGroup{features: features[:n], first: features[0]}
		for k, f := range features[:n] {
			g.to[k] = to
			to += r.b.Counts[f] * width
			if f != g.first+k {
				g.first = -1
			}
		}
		last := g.first + n
		if g.first >= 0 && (g.first%groupSize != 0 || n < groupSize && last != r.b.F) {
			g.first = -1
		}
		if g.first < 0 {
			for k := range (n + 3) / 4 * 4 {
				g.places = append(g.places, features[min(k, n-1)])
			}
		}
		all, features = append(all, g), features[n:]
	}
	return all
}

// histogram is a histogram under way.
type histogram struct {
	r       *bins
	dst     []int64
	width   int
	order   []int32 // the node's examples
	gather  func(r *bins, order []int32, value []int64)
	bits    int // of a packed sum: all but the last have so many
	limit   int // examples whose packed sums hold
	signed  bool
	mu      sync.Mutex
	sources []featureGroup
}

// Histogram: clause 25. Tasks are ranges of examples and of groups.
func (r *bins) Histogram(dst []int64, node int, features []int) error {
	clear(dst)
	n := r.nodes[node]
	h := &histogram{r: r, dst: dst, width: r.growth.Width(r.q), order: r.order[n.from:n.to]}
	switch {
	case len(h.order) <= fewRows || r.growth.Labels != nil && r.q > mostPacked:
		return r.histogramUnpacked(h, features)
	case r.growth.Labels == nil:
		h.bits, h.signed, h.gather = gradientBits, true, gatherGradients
		h.limit = r.k.limit(gradientBits-hessianBits, r.most)
	default:
		h.bits, h.gather = min(64/r.q, 32), gatherLabels
		h.limit = r.k.limit(h.bits, r.most)
	}
	h.sources = groupsOf(r, features, h.width)
	rows, groups := min(h.limit, len(h.order)), min(mostGroups, len(h.sources))
	workers := parallel.Workers(len(h.order)*len(h.sources), sumGrain)
	if workers > 1 {
		rows = min(rows, panels(len(h.order), 2*workers))
		if panels(len(h.order), rows) < workers {
			groups = min(groups, panels(len(h.sources), workers))
		}
		rows = max(rows, min(h.limit, blockRows))
	}
	shares := panels(len(h.sources), groups)
	own := r.workersFor(workers)
	parallel.Share(workers, panels(len(h.order), rows)*shares, func(worker, task int) {
		from, share := task/shares*rows, task%shares*groups
		h.add(own[worker], h.order[from:min(from+rows, len(h.order))],
			h.sources[share:min(share+groups, len(h.sources))])
	})
	return nil
}

// gatherGradients writes what examples add to the sums of packed gradients.
func gatherGradients(r *bins, order []int32, value []int64) {
	packed, times := r.packed[r.growth.Class*r.b.N:][:r.b.N], r.growth.Times
	value = value[:len(order)]
	for k, i := range order {
		value[k] = packed[i]
	}
	if r.most > 1 {
		for k, i := range order {
			value[k] *= int64(times[i])
		}
	}
}

// gatherLabels writes what examples add to packed counts.
func gatherLabels(r *bins, order []int32, value []int64) {
	width := uint(min(64/r.q, 32))
	value = value[:len(order)]
	for k, i := range order {
		value[k] = 1 << (uint(r.growth.Labels[i]) * width & 63)
	}
	if r.most > 1 {
		for k, i := range order {
			value[k] *= int64(r.growth.Times[i])
		}
	}
}

// add adds up to limit examples.
func (h *histogram) add(w *binWorker, order []int32, groups []featureGroup) {
	for len(w.sums) < len(groups) {
		w.sums = append(w.sums, [groupSize][256]int64{})
	}
	for len(order) > 0 {
		some := order[:min(blockRows, len(order))]
		order = order[len(some):]
		for k, i := range some {
			w.at[k] = int(i) * h.r.stride
		}
		h.gather(h.r, some, w.value[:])
		for k, g := range groups {
			if g.first >= 0 {
				h.r.k.aligned(&w.sums[k], h.r.rows[g.first:], w.at[:], w.value[:len(some)])
			} else {
				h.r.k.picked(&w.sums[k], h.r.rows, w.at[:], g.places, w.value[:len(some)])
			}
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for k, g := range groups {
		for j, f := range g.features {
			h.unpack(h.dst[g.to[j]:], w.sums[k][j][:h.r.b.Counts[f]])
		}
		w.sums[k] = [groupSize][256]int64{}
	}
}

// unpack adds packed sums to those of a feature.
func (h *histogram) unpack(dst, sums []int64) {
	if h.signed {
		for bin, v := range sums {
			dst[2*bin] += v >> gradientBits
			dst[2*bin+1] += v & (1<<gradientBits - 1)
		}
		return
	}
	for bin, v := range sums {
		for c := range h.width {
			dst[bin*h.width+c] += int64(uint64(v) >> (c * h.bits) & (1<<h.bits - 1))
		}
	}
}

// histogramUnpacked adds examples straight to the sums: few of them, or of many labels. Tasks are
// features.
func (r *bins) histogramUnpacked(h *histogram, features []int) error {
	starts := make([]int, len(features)+1)
	for k, f := range features {
		starts[k+1] = starts[k] + r.b.Counts[f]*h.width
	}
	workers := parallel.Workers(len(features), 1+1<<17/(len(h.order)+1))
	parallel.Share(workers, len(features), func(_, k int) {
		dst, column := h.dst[starts[k]:starts[k+1]], r.b.Column(features[k])
		if r.growth.Labels == nil {
			packed := r.packed[r.growth.Class*r.b.N:][:r.b.N]
			for _, i := range h.order {
				v, at := packed[i], 2*int(column[i])
				m := timesOf(r, i)
				dst[at] += m * (v >> gradientBits)
				dst[at+1] += m * (v & (1<<gradientBits - 1))
			}
			return
		}
		labels := r.growth.Labels
		if r.growth.Times == nil {
			for _, i := range h.order {
				dst[int(column[i])*h.width+int(labels[i])]++
			}
			return
		}
		for _, i := range h.order {
			dst[int(column[i])*h.width+int(labels[i])] += int64(r.growth.Times[i])
		}
	})
	return nil
}

func timesOf(r *bins, i int32) int64 {
	if r.growth.Times == nil {
		return 1
	}
	return int64(r.growth.Times[i])
}
