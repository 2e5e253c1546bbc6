package enginetest

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// binned is binned examples on which an engine grows trees.
type binned struct {
	name    string
	n, f, q int
	most    int         // bins of a feature, at most; the first has that number
	draw    drawTargets // nil for labels
	times   []int       // how often examples count, one of these each; nil for once each
	counted bool        // the trees count labels
	splits  int         // of a tree
	value   func(*rand.Rand) float32
}

func binnedProblems() []binned {
	var all []binned
	once, bag := []int{1}, []int{0, 1}
	for _, n := range []int{1, 2, 15, 16, 17, 63, 65, 255, 256, 257, 1030} {
		all = append(all, binned{name: "n", n: n, f: 3, q: 2, most: 7, times: bag})
	}
	for _, f := range []int{1, 4, 5, 7, 8, 9, 12, 15, 16, 17, 33} {
		all = append(all, binned{name: "F", n: 90, f: f, q: 2, most: 256, splits: 5})
	}
	for _, q := range []int{1, 3, 4, 5, 10, 16, 17, 100} {
		all = append(all, binned{name: "Q", n: 70, f: 3, q: q, most: 12, draw: soft, times: once},
			binned{name: "counted, Q", n: 170, f: 9, q: q, most: 20, times: []int{0, 1, 2, 7},
				counted: true})
	}
	return append(all, []binned{
		{name: "one bin", n: 300, f: 9, q: 2, most: 1},
		{name: "all out of the bag", n: 40, f: 3, q: 3, most: 5, times: []int{0}},
		{name: "all out of the bag, counted", n: 40, f: 3, q: 2, most: 5, times: []int{0}, counted: true},
		{name: "every number of times", n: 700, f: 10, q: 2, most: 256, draw: extremes,
			times: []int{0, 1, 3, 255}},
		{name: "every number of times, counted", n: 9000, f: 2, q: 2, most: 2, times: []int{0, 255},
			counted: true},
		{name: "large gradients", n: 40000, f: 3, q: 2, most: 2, draw: opposite, value: strong, splits: 2},
		{name: "large gradients, often", n: 40000, f: 9, q: 2, most: 1, draw: opposite, times: []int{255},
			value: strong, splits: 1},
		{name: "full sums", n: 300, f: 9, q: 2, most: 1, draw: opposite, times: []int{128}, splits: 1},
		{name: "full counts", n: 300, f: 9, q: 5, most: 1, times: []int{128}, counted: true, splits: 1},
		{name: "large counts", n: 70000, f: 2, q: 3, most: 1, counted: true, splits: 2},
		{name: "many examples", n: 35000, f: 10, q: 2, most: 200, draw: perRow, times: bag, splits: 12},
		{name: "many splits", n: 600, f: 5, q: 3, most: 50, draw: backward, splits: 100},
		{name: "scores that overflow", n: 200, f: 4, q: 3, most: 9, value: largest},
		{name: "losses around the largest", n: 270, f: 3, q: 3, most: 30, value: losing},
		{name: "certain labels", n: 200, f: 4, q: 2, most: 9, draw: identity, value: strong},
	}...)
}

// opposite: given targets as far as can be from the class that strong scores prefer.
func opposite(_ *rand.Rand, n, q int) engine.Targets {
	t := engine.Targets{Given: true, Values: make([]float32, q), Row: make([]int32, n)}
	t.Values[q-1] = 1
	return t
}

// BinnedCases are the cases of clauses 24 to 26.
func BinnedCases() []Case { return binnedCases(binnedProblems()...) }

// tinyBinned are for an interpreter of kernels.
func tinyBinned() []Case {
	return binnedCases(binned{name: "tiny", n: 1, f: 1, q: 2, most: 3, splits: 1},
		binned{name: "tiny", n: 37, f: 9, q: 3, most: 5, times: []int{0, 1, 2}, splits: 2},
		binned{name: "tiny, counted", n: 37, f: 3, q: 5, most: 256, times: []int{0, 1}, counted: true,
			splits: 2})
}

func binnedCases(problems ...binned) (all []Case) {
	for _, p := range problems {
		name := fmt.Sprintf("trees: %s (n=%d F=%d Q=%d)", p.name, p.n, p.f, p.q)
		all = append(all, newCase(name, p.check))
	}
	return all
}

// build draws the examples.
func (p binned) build() (b dataset.Binned, rng *rand.Rand) {
	rng = rand.New(rand.NewPCG(uint64(p.n)<<30|uint64(p.f)<<10|uint64(p.q), uint64(p.most)))
	b = dataset.Binned{N: p.n, F: p.f}
	for f := range p.f {
		count := p.most
		if f > 0 {
			count = 1 + rng.IntN(p.most)
		}
		b.Counts = append(b.Counts, count)
		for range p.n {
			bin := rng.IntN(count)
			if f%3 == 2 { // mostly one bin
				bin = bin * rng.IntN(count) / count
			}
			b.Bins = append(b.Bins, uint8(bin))
		}
	}
	b.Bins[p.n-1] = uint8(p.most - 1)
	return b, rng
}

// growth draws the bag and the labels of a tree.
func (p binned) growth(rng *rand.Rand, class int) engine.Growth {
	g := engine.Growth{Class: class}
	if p.times != nil {
		g.Times = make([]uint8, p.n)
		for i := range g.Times {
			g.Times[i] = uint8(p.times[rng.IntN(len(p.times))])
		}
	}
	if p.counted {
		g.Labels = make([]int32, p.n)
		for i := range g.Labels {
			g.Labels[i] = int32(rng.IntN(p.q))
			if p.most == 1 {
				g.Labels[i] = int32(p.q - 1)
			}
		}
	}
	return g
}

// check grows trees on both engines, and compares all that can be asked for.
func (p binned) check(e, ref *engine.Engine) error {
	b, rng := p.build()
	if p.draw == nil {
		p.draw = labels
	}
	if p.splits == 0 {
		p.splits = 9
	}
	if p.value == nil {
		p.value = normal
	}
	var f fences
	own := b
	own.Bins = fence(&f, "bins", b.Bins)
	got, err := e.LoadBins(own, p.q)
	if err != nil {
		return err
	}
	want, err := ref.LoadBins(b, p.q)
	if err != nil {
		return err
	}
	for round := range 2 {
		t := p.draw(rng, p.n, p.q)
		err := errors.Join(want.SetTargets(t), got.SetTargets(f.targets(t)))
		if err == nil {
			err = p.round(got, want, rng)
		}
		if err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
	}
	return errors.Join(got.Close(), want.Close(), f.intact())
}

// round adds a tree to the scores, so that they differ, and grows trees on their gradients.
func (p binned) round(got, want *engine.Bins, rng *rand.Rand) error {
	for step := range 3 {
		found, err := got.Gradients()
		expected, err2 := want.Gradients()
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		if found != expected {
			return fmt.Errorf("gradients: %+v, want %+v", found, expected)
		}
		class := rng.IntN(p.q)
		g := p.growth(rng, class)
		if err := errors.Join(got.Start(g), want.Start(g)); err != nil {
			return err
		}
		t, err := p.grow(got, want, g, rng)
		if err == nil {
			err = p.add(got, want, t, class-(class+1)*(step%2), rng)
		}
		if err == nil && step == 1 { // of no tree that grew
			other := p.unrelated(want, rng)
			err = p.add(got, want, other, -1, rng)
		}
		if err != nil {
			return fmt.Errorf("tree %d: %w", step, err)
		}
	}
	return nil
}

// leafAt is a leaf of a tree that grows.
type leafAt struct {
	node         int // on the engine
	parent, side int // in the tree; parent -1 for the root
}

// grow splits leaves at random and compares their histograms. It returns the tree.
func (p binned) grow(got, want *engine.Bins, g engine.Growth, rng *rand.Rand) (t engine.Tree,
	err error) {
	_, features, q := want.Shape()
	used := map[int]bool{0: true}
	fresh := func() int {
		for {
			id := rng.IntN(engine.MostNodes)
			if rng.IntN(2) == 0 {
				id = len(used) + rng.IntN(3)
			}
			if !used[id] {
				used[id] = true
				return id
			}
		}
	}
	leaves := []leafAt{{0, -1, 0}}
	if err := p.sameHistogram(got, want, 0, g.Width(q), rng); err != nil {
		return t, err
	}
	for range p.splits {
		k := rng.IntN(len(leaves))
		leaf := leaves[k]
		f, left := rng.IntN(features), p.set(rng)
		children := [2]int{fresh(), fresh()}
		found, err := got.Split(leaf.node, f, left, children)
		expected, err2 := want.Split(leaf.node, f, left, children)
		if err := errors.Join(err, err2); err != nil {
			return t, err
		}
		if found != expected {
			return t, fmt.Errorf("split: %v examples, want %v", found, expected)
		}
		at := int32(len(t.Nodes))
		t.Nodes = append(t.Nodes, engine.Node{Feature: int32(f), Left: left})
		if leaf.parent >= 0 {
			t.Nodes[leaf.parent].Children[leaf.side] = at
		}
		leaves[k] = leafAt{children[0], int(at), 0}
		leaves = append(leaves, leafAt{children[1], int(at), 1})
		for _, child := range children {
			if err := p.sameHistogram(got, want, child, g.Width(q), rng); err != nil {
				return t, fmt.Errorf("after split %d: %w", at, err)
			}
		}
	}
	for k, leaf := range leaves {
		t.Nodes[leaf.parent].Children[leaf.side] = ^int32(k)
	}
	t.Values = make([]float32, len(leaves))
	return t, nil
}

// set draws a set of bins: mostly a half, at times none or all.
func (p binned) set(rng *rand.Rand) (s engine.BinSet) {
	kind := rng.IntN(8)
	for k := range s {
		switch kind {
		case 0:
		case 1:
			s[k] = ^uint64(0)
		default:
			s[k] = rng.Uint64()
		}
	}
	return s
}

// sameHistogram compares the sums of a node, of all features or of some in any order.
func (p binned) sameHistogram(got, want *engine.Bins, node, width int, rng *rand.Rand) error {
	b, _ := p.build()
	features := rng.Perm(p.f)
	switch rng.IntN(3) {
	case 0:
		features = features[:1+rng.IntN(p.f)]
	case 1:
		features = classes(p.f)
	}
	size := 0
	for _, f := range features {
		size += b.Counts[f] * width
	}
	return agree(fmt.Sprintf("histogram of node %d", node), got, want, size,
		func(r *engine.Bins, dst []int64) error { return r.Histogram(dst, node, features) })
}

// add adds a tree with random values, also without its last split, and compares the scores.
func (p binned) add(got, want *engine.Bins, t engine.Tree, class int, rng *rand.Rand) error {
	width := 1
	if class < 0 {
		width = p.q
	}
	leaves := max(1, len(t.Nodes)+1)
	var f fences
	for k := range 4 {
		switch {
		case k == 1 && len(t.Nodes) > 0:
			t.Nodes = withoutLast(t.Nodes)
		case k == 2 && len(t.Nodes) > 0: // one node differs
			n := &t.Nodes[rng.IntN(len(t.Nodes))]
			if n.Feature = (n.Feature + 1) % int32(p.f); p.f == 1 || rng.IntN(2) == 0 {
				n.Left[0] ^= 1
			}
		case k == 3 && rng.IntN(2) == 0:
			t.Nodes = nil
		}
		t.Values = make([]float32, leaves*width)
		draw(rng, t.Values, p.value)
		own := t
		own.Values = fence(&f, "values of leaves", t.Values)
		err := errors.Join(want.Add(t, class), got.Add(own, class), f.intact())
		if err != nil {
			return err
		}
		from, to := rng.IntN(p.n), p.n
		if k != 0 {
			from, to = from/2, from/2+1+rng.IntN(p.n-from/2)
		}
		err = agree("scores of trees", got, want, (to-from)*p.q,
			func(r *engine.Bins, dst []float32) error { return r.Scores(dst, from, to) })
		if err != nil {
			return fmt.Errorf("add %d: %w", k, err)
		}
	}
	return nil
}

// withoutLast returns nodes without the last one; its parent gets leaf 0 in its place.
func withoutLast(nodes []engine.Node) []engine.Node {
	last := len(nodes) - 1
	nodes = append([]engine.Node(nil), nodes[:last]...)
	for at := range nodes {
		for side, c := range nodes[at].Children {
			if int(c) == last {
				nodes[at].Children[side] = ^0
			}
		}
	}
	return nodes
}

// unrelated draws a tree of a chain of nodes.
func (p binned) unrelated(r *engine.Bins, rng *rand.Rand) (t engine.Tree) {
	_, features, _ := r.Shape()
	for at := range 1 + rng.IntN(6) {
		n := engine.Node{Feature: int32(rng.IntN(features)), Left: p.set(rng),
			Children: [2]int32{int32(at) + 1, ^int32(at)}}
		if rng.IntN(2) == 0 {
			n.Children[0], n.Children[1] = n.Children[1], n.Children[0]
		}
		t.Nodes = append(t.Nodes, n)
	}
	last := len(t.Nodes) - 1
	t.Nodes[last].Children = [2]int32{^int32(last), ^int32(last + 1)}
	return t
}
