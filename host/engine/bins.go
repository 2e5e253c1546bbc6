package engine

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// MostNodes bounds the numbers of the nodes of a tree that grows.
const MostNodes = 1 << 16

// BinSet is a set of bins: bit b%64 of word b/64 is bin b.
type BinSet [4]uint64

// Has reports whether a bin is in the set.
func (s BinSet) Has(bin uint8) bool { return s[bin>>6]>>(bin&63)&1 != 0 }

// Tree is a tree over bins. It has at least one leaf.
type Tree struct {
	Nodes []Node // node 0 is the root; empty if the tree is one leaf
	// Values has one value for each leaf, or a row of Q.
	Values []float32
}

// Node is an inner node of a Tree: examples whose bin of Feature is in Left go to Children[0], the
// others to Children[1]. A child c is a node after this one if c ≥ 0, else leaf ^c.
type Node struct {
	Feature  int32
	Left     BinSet
	Children [2]int32
}

// Leaf returns the leaf that example i of b reaches.
func (t Tree) Leaf(b dataset.Binned, i int) int {
	if len(t.Nodes) == 0 {
		return 0
	}
	at := int32(0)
	for at >= 0 {
		n, side := t.Nodes[at], 1
		if n.Left.Has(b.Column(int(n.Feature))[i]) {
			side = 0
		}
		at = n.Children[side]
	}
	return int(^at)
}

// Growth says what the histograms of a tree sum, and over which examples.
type Growth struct {
	// Class is whose gradients are summed, G and H, unless Labels is set: then each example counts at
	// its label, 0..Q-1.
	Class  int
	Labels []int32

	// Times is how often each example counts; with 0 it is out of the bag. nil: each once.
	Times []uint8
}

// Width returns the number of sums of a bin: two, or Q with labels.
func (g Growth) Width(q int) int {
	if g.Labels == nil {
		return 2
	}
	return q
}

// Bins are binned examples on an engine, with the scores of the trees that were added, as integers
// g and h the gradients of the loss, and a partition of the examples by the nodes of the tree that
// grows. Clauses 24 to 26 fix every bit. Bins are used by one goroutine; for errors see Scorer.
type Bins struct {
	held
	driven  LoadedBins
	b       dataset.Binned
	q       int
	targets bool
	graded  bool // there are gradients
	growth  Growth
	nodes   map[int]bool // of the tree that grows, which were not split; nil for no tree
}

// LoadBins loads examples in bins, to grow trees for q classes. All scores are 0. The engine may
// keep a reference to b's slices until Close; nobody may write to them.
// Errors: ErrShape, ErrValue, ErrMemory, ErrClosed.
func (e *Engine) LoadBins(b dataset.Binned, q int) (*Bins, error) {
	var r *Bins
	err := e.do("load bins", func() error {
		if err := checkBins(b, q); err != nil {
			return err
		}
		loaded, err := e.driver.LoadBins(b, q, b.N)
		if err != nil {
			return err
		}
		r = &Bins{held: held{e: e, close: loaded.Close}, driven: loaded, b: b, q: q}
		return nil
	})
	return r, err
}

// Shape returns the numbers of examples, features and classes.
func (b *Bins) Shape() (n, f, q int) { return b.b.N, b.b.F, b.q }

// SetTargets is Evaluator.SetTargets.
func (b *Bins) SetTargets(t Targets) error {
	return b.do("set targets", checkTargets(t, b.b.N, b.q), func() error {
		b.targets = true
		return b.driven.SetTargets(t)
	})
}

// Gradients computes g and h of every example and class from the scores (clause 24). It ends the
// tree that grows; its bag stays. ErrShape before the first SetTargets.
func (b *Bins) Gradients() (found Evaluation, err error) {
	var check error
	if !b.targets {
		check = fmt.Errorf("%w: found no targets, want a call of SetTargets before", ErrShape)
	}
	err = b.do("gradients", check, func() (err error) {
		b.nodes, b.graded = nil, true
		found, err = b.driven.Gradients()
		return err
	})
	return found, err
}

// Start begins a tree: node 0 has the examples in the bag. The engine may keep references to g's
// slices until the next Start or Close. Errors: ErrShape, also for a class without Gradients
// before; ErrLabel.
func (b *Bins) Start(g Growth) error {
	return b.do("start", checkGrowth(g, b.b.N, b.q, b.graded), func() error {
		b.growth, b.nodes = g, map[int]bool{0: true}
		return b.driven.Start(g)
	})
}

// Histogram writes the sums of a node to dst: for each of the features, one after another, and
// each bin of it, in this order, Width integers (clause 25).
func (b *Bins) Histogram(dst []int64, node int, features []int) error {
	check := checkHistogram(dst, b.b, features, b.growth.Width(b.q))
	if check == nil {
		check = b.checkNode(node)
	}
	return b.do("histogram", check, func() error { return b.driven.Histogram(dst, node, features) })
}

// Split moves the examples of a node whose bin of the feature is in left to the node children[0],
// the others to children[1], both in their order, and returns the numbers of examples. The node is
// none afterwards. The children are new numbers below MostNodes.
func (b *Bins) Split(node, feature int, left BinSet, children [2]int) (counts [2]int64, err error) {
	check := b.checkNode(node)
	if check == nil {
		check = checkSplit(feature, children, b.b.F, b.nodes)
	}
	err = b.do("split", check, func() (err error) {
		b.nodes[node], b.nodes[children[0]], b.nodes[children[1]] = false, true, true
		counts, err = b.driven.Split(node, feature, left, children)
		return err
	})
	return counts, err
}

// checkNode wants a node of the tree that grows, one that was not split.
func (b *Bins) checkNode(node int) error {
	if !b.nodes[node] {
		return fmt.Errorf("%w: found node %d, want one of the tree that grows and that was not split",
			ErrShape, node)
	}
	return nil
}

// Add adds to the scores of all examples the value of the leaf that each reaches: to the score of a
// class or, if class is -1, row by row to all (clause 26). Errors: ErrShape; ErrValue for a value
// that is not finite.
func (b *Bins) Add(t Tree, class int) error {
	return b.do("add", checkTree(t, class, b.b.F, b.q), func() error {
		return b.driven.Add(t, class)
	})
}

// Scores is Scorer.Scores.
func (b *Bins) Scores(dst []float32, from, to int) error {
	return b.do("scores", checkScores(dst, from, to, b.b.N, b.q), func() error {
		return b.driven.Scores(dst, from, to)
	})
}
