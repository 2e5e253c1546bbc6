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
	// limit returns how many examples a packed sum holds, if each counts at most most times.
	limit func(most int) int
	// same reports whether a node of a tree is one that grew here.
	same func(s *nodeSplit, n engine.Node) bool
}

var binGo = binKernels{aligned: alignedGo, picked: pickedGo, partition: partitionGo,
	limit: limitGo, same: sameGo}

func limitGo(most int) int { return (1<<(gradientBits-hessianBits) - 1) / max(1, most) }

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
		row := at[k]
		sums[0][rows[row+a]] += v
		sums[1][rows[row+b]] += v
		sums[2][rows[row+c]] += v
		sums[3][rows[row+d]] += v
	}
	if len(places) == 4 {
		return
	}
	a, b, c, d = places[4], places[5], places[6], places[7]
	for k, v := range value {
		row := at[k]
		sums[4][rows[row+a]] += v
		sums[5][rows[row+b]] += v
		sums[6][rows[row+c]] += v
		sums[7][rows[row+d]] += v
	}
}

// featureGroup is up to eight features whose sums are taken together.
type featureGroup struct {
	features []int
	to       [groupSize]int // where the sums of each begin in a histogram
	first    int            // its first place in a row, if it is aligned; else -1
	places   []int          // else: four or eight; some of them twice
}

// groupsOf cuts features into groups.
func groupsOf(r *bins, features []int) (all []featureGroup) {
	to := 0
	for len(features) > 0 {
		n := min(groupSize, len(features))
		g := featureGroup{features: features[:n], first: features[0]}
		for k, f := range features[:n] {
			g.to[k] = to
			to += 2 * r.b.Counts[f]
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

// histogram is a histogram of gradients under way.
type histogram struct {
	r   *bins
	dst []int64
	mu  sync.Mutex
}

// Histogram: clause 25. Tasks are ranges of examples and of groups.
func (r *bins) Histogram(dst []int64, node int, features []int) error {
	clear(dst)
	n := r.nodes[node]
	order := r.order[n.from:n.to]
	if r.growth.Labels != nil || len(order) <= fewRows {
		r.histogramUnpacked(dst, order, features)
		return nil
	}
	h := &histogram{r: r, dst: dst}
	limit, sources := r.k.limit(r.most), groupsOf(r, features)
	rows, groups := min(limit, len(order)), min(mostGroups, len(sources))
	workers := parallel.Workers(len(order)*len(sources), sumGrain)
	if workers > 1 {
		rows = min(rows, panels(len(order), 2*workers))
		if panels(len(order), rows) < workers {
			groups = min(groups, panels(len(sources), workers))
		}
		rows = max(rows, min(limit, blockRows))
	}
	shares := panels(len(sources), groups)
	own := r.workersFor(workers)
	parallel.Share(workers, panels(len(order), rows)*shares, func(worker, task int) {
		from, share := task/shares*rows, task%shares*groups
		h.add(own[worker], order[from:min(from+rows, len(order))],
			sources[share:min(share+groups, len(sources))])
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
		gatherGradients(h.r, some, w.value[:])
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
			dst := h.dst[g.to[j]:]
			for bin, v := range w.sums[k][j][:h.r.b.Counts[f]] {
				dst[2*bin] += v >> gradientBits
				dst[2*bin+1] += v & (1<<gradientBits - 1)
			}
		}
		w.sums[k] = [groupSize][256]int64{}
	}
}

// histogramUnpacked adds examples straight to the sums: few of them, or their labels. Tasks are
// features.
func (r *bins) histogramUnpacked(all []int64, order []int32, features []int) {
	width := r.growth.Width(r.q)
	starts := make([]int, len(features)+1)
	for k, f := range features {
		starts[k+1] = starts[k] + r.b.Counts[f]*width
	}
	workers := parallel.Workers(len(features), 1+1<<17/(len(order)+1))
	parallel.Share(workers, len(features), func(_, k int) {
		dst, column := all[starts[k]:starts[k+1]], r.b.Column(features[k])
		if labels := r.growth.Labels; labels != nil {
			for _, i := range order {
				dst[int(column[i])*width+int(labels[i])] += timesOf(r, i)
			}
			return
		}
		packed := r.packed[r.growth.Class*r.b.N:][:r.b.N]
		for _, i := range order {
			v, at := packed[i], 2*int(column[i])
			m := timesOf(r, i)
			dst[at] += m * (v >> gradientBits)
			dst[at+1] += m * (v & (1<<gradientBits - 1))
		}
	})
}

func timesOf(r *bins, i int32) int64 {
	if r.growth.Times == nil {
		return 1
	}
	return int64(r.growth.Times[i])
}
