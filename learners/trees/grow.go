package trees

import (
	"container/heap"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// grower grows trees on loaded examples, one after another.
type grower struct {
	bins     *engine.Bins
	counts   []int  // bins of each feature
	category []bool // of each feature
	gains    []float64

	spare [][]int64 // for histograms
}

// plan says how a tree grows.
type plan struct {
	criterion criterion
	leaves    int   // at most
	features  []int // in increasing order, whose splits are tried at every node

	// draw, if not nil, returns the features to try at a node in place of these: others at each
	// further try, none at the end. The plan then is of a forest, and few counts the labels of small
	// nodes; rows are the examples in the bag.
	draw func(node, try int) []int
	few  *counter
	rows []int32
}

// leaf is a leaf of a tree that grows.
type leaf struct {
	split
	node   int     // of the engine
	parent int     // its parent among the nodes of the tree, -1 of the root
	side   int     // which of the parent's children it is
	made   int     // its number, in the order of making
	rows   []int32 // its examples in a forest
	sums   []int64 // of the plan's features; nil if they are not kept
	totals []int64 // of all its examples
	inLeft []int64 // of the examples left of its split
}

// leaves has the leaf of the greatest gain first, of equals the oldest.
type leaves []*leaf

func (h leaves) Len() int { return len(h) }
func (h leaves) Less(a, b int) bool {
	return h[a].gain > h[b].gain || h[a].gain == h[b].gain && h[a].made < h[b].made
}
func (h leaves) Swap(a, b int) { h[a], h[b] = h[b], h[a] }
func (h *leaves) Push(l any)   { *h = append(*h, l.(*leaf)) }
func (h *leaves) Pop() any {
	old := *h
	last := len(old) - 1
	l := old[last]
	*h = old[:last]
	return l
}

// mostKept is how many sums the leaves of a growing tree keep at most, so that a histogram is the
// parent's less the sibling's. Beyond it each is summed.
const mostKept = 1 << 25

// grow grows a tree from the examples that the engine has at node 0, best split first. It returns
// the tree without values, and the sums of each leaf's examples.
func (g *grower) grow(p plan) (t engine.Tree, totals [][]int64, err error) {
	keeps := p.draw == nil && g.size(p.features)*p.criterion.width()*p.leaves <= mostKept
	root := &leaf{parent: -1, rows: p.rows}
	if err := g.sum(p, root); err != nil {
		return t, nil, err
	}
	if err := g.search(p, []*leaf{root}, keeps); err != nil {
		return t, nil, err
	}
	open, made := leaves{root}, 1
	for made < p.leaves && open[0].gain > 0 {
		l := heap.Pop(&open).(*leaf)
		node := len(t.Nodes)
		t.Nodes = append(t.Nodes, engine.Node{Feature: int32(l.feature), Left: l.left})
		if l.parent >= 0 {
			t.Nodes[l.parent].Children[l.side] = int32(node)
		}
		g.gains[l.feature] += l.gain
		first := &leaf{node: 2*node + 1, parent: node, made: l.made, totals: l.inLeft}
		second := &leaf{node: 2*node + 2, parent: node, side: 1, made: made,
			totals: less(l.totals, l.inLeft)}
		made++
		sizes, err := g.part(p, l, first, second)
		if err != nil {
			return t, nil, err
		}
		if made < p.leaves {
			if err := g.sumChildren(p, l, first, second, sizes); err != nil {
				return t, nil, err
			}
			if err := g.search(p, []*leaf{first, second}, keeps); err != nil {
				return t, nil, err
			}
		}
		heap.Push(&open, first)
		heap.Push(&open, second)
	}
	totals = make([][]int64, made)
	for _, l := range open {
		if l.parent >= 0 {
			t.Nodes[l.parent].Children[l.side] = ^int32(l.made)
		}
		totals[l.made] = l.totals
		g.release(l)
	}
	return t, totals, nil
}

// part splits a leaf, and returns the sizes of its children.
func (g *grower) part(p plan, l, first, second *leaf) (sizes [2]int64, err error) {
	if p.draw != nil {
		small := len(l.rows) <= fewRows
		first.rows, second.rows = p.few.part(l.rows, &l.split)
		if small {
			return sizes, nil
		}
	}
	return g.bins.Split(l.node, l.feature, l.left, [2]int{first.node, second.node})
}

// size returns how many bins the features have.
func (g *grower) size(features []int) (n int) {
	for _, f := range features {
		n += g.counts[f]
	}
	return n
}

// less returns a - b.
func less(a, b []int64) []int64 {
	d := make([]int64, len(a))
	for k, v := range a {
		d[k] = v - b[k]
	}
	return d
}

// sum computes the histogram of a leaf, unless its features are to be drawn.
func (g *grower) sum(p plan, l *leaf) error {
	if p.draw != nil {
		return nil
	}
	l.sums = g.buffer(g.size(p.features) * p.criterion.width())
	return g.bins.Histogram(l.sums, l.node, p.features)
}

// sumChildren computes the histograms of a leaf's children: the smaller one's, and by subtraction
// the other's in place of the parent's.
func (g *grower) sumChildren(p plan, l, first, second *leaf, sizes [2]int64) error {
	small, large := first, second
	if sizes[0] > sizes[1] {
		small, large = second, first
	}
	if err := g.sum(p, small); err != nil {
		return err
	}
	if l.sums == nil {
		return g.sum(p, large)
	}
	large.sums, l.sums = l.sums, nil
	for k, v := range small.sums {
		large.sums[k] -= v
	}
	return nil
}

// buffer returns room for a histogram.
func (g *grower) buffer(n int) []int64 {
	if last := len(g.spare) - 1; last >= 0 && cap(g.spare[last]) >= n {
		b := g.spare[last][:n]
		g.spare = g.spare[:last]
		return b
	}
	return make([]int64, n)
}

// release keeps the histogram of a leaf for further use.
func (g *grower) release(l *leaf) {
	if l.sums != nil {
		g.spare, l.sums = append(g.spare, l.sums), nil
	}
}

// search finds the best splits of leaves.
func (g *grower) search(p plan, some []*leaf, keeps bool) error {
	if p.draw == nil {
		g.searchIn(p.criterion, some, p.features)
		for _, l := range some {
			if !keeps {
				g.release(l)
			}
		}
		return nil
	}
	for _, l := range some {
		for try := 0; l.gain == 0; try++ {
			features := p.draw(l.node, try)
			if features == nil {
				break
			}
			if len(l.rows) <= fewRows {
				g.count(p, l, features)
				continue
			}
			l.sums = g.buffer(g.size(features) * p.criterion.width())
			if err := g.bins.Histogram(l.sums, l.node, features); err != nil {
				return err
			}
			g.searchIn(p.criterion, []*leaf{l}, features)
			g.release(l)
		}
	}
	return nil
}

// count finds the best split of a leaf of few examples.
func (g *grower) count(p plan, l *leaf, features []int) {
	if l.totals == nil {
		l.totals = p.few.totals(l.rows)
	}
	for _, f := range features {
		s, inLeft := p.few.best(p.criterion.(*counts), l.rows, l.totals, f, g.category[f])
		if s.gain > l.gain {
			l.split, l.inLeft = s, inLeft
			l.feature = f
		}
	}
}

// searchIn finds the best splits of leaves that have the sums of the given features.
func (g *grower) searchIn(c criterion, some []*leaf, features []int) {
	const grain = 2048 // bins that it is worth a processor to look at
	w, starts := c.width(), make([]int, 1, 1+len(features))
	for k, f := range features {
		starts = append(starts, starts[k]+g.counts[f]*w)
	}
	n := len(features)
	found := make([]split, n*len(some))
	for _, l := range some {
		if l.totals == nil {
			l.totals = sumOf(l.sums[:starts[1]], w, nil)
		}
	}
	size := starts[n] / w * len(some)
	parallel.Share(parallel.Workers(size, grain), len(found), func(_, task int) {
		l, k := some[task/n], task%n
		found[task] = bestOf(c, l.sums[starts[k]:starts[k+1]], l.totals, g.category[features[k]])
	})
	for m, l := range some {
		at := -1
		for k, s := range found[m*n : (m+1)*n] {
			if s.gain > l.gain {
				l.split, at = s, k
				l.feature = features[k]
			}
		}
		if at >= 0 {
			l.inLeft = sumOf(l.sums[starts[at]:starts[at+1]], w, &l.left)
		}
	}
}

// sumOf returns the sums over the bins of a set, nil for all, of w sums each.
func sumOf(sums []int64, w int, set *engine.BinSet) []int64 {
	all := make([]int64, w)
	for b := range len(sums) / w {
		if set == nil || set.Has(uint8(b)) {
			for k, v := range sums[b*w : (b+1)*w] {
				all[k] += v
			}
		}
	}
	return all
}
