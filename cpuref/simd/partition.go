package simd

import (
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// splitGrain is how many examples are worth a processor.
const splitGrain = 1 << 14

func partitionGo(order, right []int32, column []uint8, isLeft *[256]uint8) int {
	left, rest := 0, 0
	for _, i := range order {
		side := int(isLeft[column[i]])
		order[left], right[rest] = i, i
		left, rest = left+side, rest+1-side
	}
	return left
}

// tableOf returns 1 for each bin in the set.
func tableOf(s engine.BinSet) (t [256]uint8) {
	for bin := range t {
		t[bin] = uint8(s[bin>>6] >> (bin & 63) & 1)
	}
	return t
}

// Split: clause 25. Each worker cuts a part of the node's range, and the parts are put together.
func (r *bins) Split(node, feature int, left engine.BinSet, children [2]int,
) (counts [2]int64, err error) {
	n, column, isLeft := r.nodes[node], r.b.Column(feature), tableOf(left)
	order, spare := r.order[n.from:n.to], r.spare[n.from:n.to]
	parts := parallel.Workers(len(order), splitGrain)
	type part struct{ from, to, left int }
	cut := make([]part, parts)
	parallel.Cut(len(order), parts, func(k, from, to int) {
		cut[k] = part{from, to, r.k.partition(order[from:to], spare[from:to], column, &isLeft)}
	})
	middle := 0
	for _, p := range cut {
		middle += copy(order[middle:], order[p.from:p.from+p.left])
	}
	at := middle
	for _, p := range cut {
		at += copy(order[at:], spare[p.from:p.to-p.left])
	}
	n.split = &nodeSplit{feature, left, children}
	r.nodes[children[0]] = &binNode{from: n.from, to: n.from + middle}
	r.nodes[children[1]] = &binNode{from: n.from + middle, to: n.to}
	return [2]int64{int64(middle), int64(len(order) - middle)}, nil
}

// Add: clause 26. Examples in the bag of a tree that grew here are in the range of the node that
// is their leaf; others are sent through the tree.
func (r *bins) Add(t engine.Tree, class int) error {
	others := r.order
	leaves, grown := match(r, t)
	switch {
	case grown:
		others = r.order[r.bag:]
		parallel.Share(parallel.Workers(r.bag, splitGrain), len(leaves), func(_, k int) {
			addValue(r, t, leaves[k].leaf, class, r.order[leaves[k].from:leaves[k].to])
		})
	case r.nodes == nil: // of no tree yet
		for i := range r.order {
			r.order[i] = int32(i)
		}
	}
	tables := make([][256]uint8, len(t.Nodes))
	for k, n := range t.Nodes {
		tables[k] = tableOf(n.Left)
	}
	tasks := panels(len(others), blockRows)
	workers := parallel.Workers(tasks, splitGrain/blockRows)
	own := r.workersFor(workers)
	parallel.Share(workers, tasks, func(worker, task int) {
		w, from := own[worker], task*blockRows
		some := copy(w.list[:], others[from:])
		walk(r, t, tables, class, 0, w.list[:some], w.aux[:some])
	})
	return nil
}

// leafRange is the range of the examples of a leaf.
type leafRange struct{ leaf, from, to int }

// match returns the leaves of a tree if it is one that grew here, without splits perhaps.
func match(r *bins, t engine.Tree) (leaves []leafRange, grown bool) {
	if r.nodes == nil {
		return nil, false
	}
	if len(t.Nodes) == 0 {
		return []leafRange{{0, 0, r.bag}}, true
	}
	ids := make([]int, len(t.Nodes)) // the node here of each; -1 for one not reached
	for k := 1; k < len(ids); k++ {
		ids[k] = -1
	}
	for k, n := range t.Nodes {
		if ids[k] < 0 {
			continue
		}
		own := r.nodes[ids[k]]
		if !r.k.same(own.split, n) {
			return nil, false
		}
		for side, c := range n.Children {
			child := own.split.children[side]
			switch {
			case c < 0:
				leaves = append(leaves, leafRange{int(^c), r.nodes[child].from, r.nodes[child].to})
			case ids[c] >= 0:
				return nil, false // two ways to one node
			default:
				ids[c] = child
			}
		}
	}
	return leaves, true
}

// walk sends examples from a node, or leaf, of a tree to the leaves.
func walk(r *bins, t engine.Tree, tables [][256]uint8, class, at int, list, aux []int32) {
	for at >= 0 && len(t.Nodes) > 0 && len(list) > 0 {
		n := t.Nodes[at]
		left := r.k.partition(list, aux, r.b.Column(int(n.Feature)), &tables[at])
		rest := list[left:]
		copy(rest, aux)
		walk(r, t, tables, class, int(n.Children[0]), list[:left], aux[:left])
		at, list, aux = int(n.Children[1]), rest, aux[left:]
	}
	if len(t.Nodes) == 0 {
		at = ^0
	}
	if len(list) > 0 {
		addValue(r, t, ^at, class, list)
	}
}

// addValue adds the value of a leaf to the scores of examples.
func addValue(r *bins, t engine.Tree, leaf, class int, examples []int32) {
	if class >= 0 {
		v, scores := t.Values[leaf], r.scores[class*lanes:]
		for _, i := range examples {
			scores[int(i)/lanes*r.q*lanes+int(i)%lanes] += v
		}
		return
	}
	for _, i := range examples {
		at := int(i)/lanes*r.q*lanes + int(i)%lanes
		for k, v := range t.Values[leaf*r.q : (leaf+1)*r.q] {
			r.scores[at+k*lanes] += v
		}
	}
}
