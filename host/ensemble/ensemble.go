// Package ensemble is what trees predict: a Model has the columns that trees look at, how these
// become bins, and the trees. Package learners/trees grows them.
package ensemble

import (
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
)

// Modes of a Model.
const (
	Boost  = "boost"  // each tree corrects the sum of the trees before it
	Forest = "forest" // the mean of trees
)

// Model is what a fit found: plain data, which a model file keeps.
type Model struct {
	Q       int
	Mode    string // Boost or Forest
	Unmix   bool   // a forest's shares are of labels that a confusion matrix has made wrong
	Columns []Column
	// Source is, for each column, its index in the encoding, or its feature without one.
	Source []int
	// Base are scores to begin with, Q: a forest's are the shares of all labels, as of one more tree.
	Base  []float32
	Trees []engine.Tree // of boosting with a value for each leaf, of a forest with Q shares
	Class []int32       // whose score a tree adds to; -1 for all
	// Gain is how much the splits of each column gained: in the loss of boosting, or in purity.
	Gain []float64
}

// Bin returns examples in the bins of the model.
func (m *Model) Bin(x dataset.Examples) dataset.Binned { return Bin(m.Columns, x) }

// Importance returns the columns' shares of all gain, which sum to 1 unless no tree has a split.
func (m *Model) Importance() []float64 {
	shares, sum := make([]float64, len(m.Gain)), 0.0
	for _, v := range m.Gain {
		sum += v
	}
	for k, v := range m.Gain {
		if sum > 0 {
			shares[k] = v / sum
		}
	}
	return shares
}

// Check says what keeps m from being a model of examples of d features.
func (m *Model) Check(d int) error {
	fault := func(format string, args ...any) error {
		return fmt.Errorf("trees: found "+format, args...)
	}
	switch {
	case m.Q < 2:
		return fault("%d classes, wanted at least 2", m.Q)
	case m.Mode != Boost && m.Mode != Forest:
		return fault("the mode %.40q, wanted boost or forest", m.Mode)
	case m.Unmix && m.Mode != Forest:
		return fault("boosted trees with shares to unmix, wanted a forest")
	case len(m.Base) != m.Q || !finite(m.Base):
		return fault("the base %v, wanted %d finite scores", m.Base, m.Q)
	case len(m.Class) != len(m.Trees):
		return fault("classes of %d trees, wanted %d", len(m.Class), len(m.Trees))
	case len(m.Gain) != len(m.Columns) || len(m.Source) != len(m.Columns):
		return fault("gains of %d and sources of %d columns, wanted %d", len(m.Gain), len(m.Source),
			len(m.Columns))
	}
	for f := range m.Columns {
		if err := m.Columns[f].check(d); err != nil {
			return fmt.Errorf("trees: column %d: %w", f+1, err)
		}
	}
	for t := range m.Trees {
		if err := m.checkTree(t); err != nil {
			return fmt.Errorf("trees: tree %d: %w", t+1, err)
		}
	}
	return nil
}

// check says what keeps c from being a column of d features.
func (c *Column) check(d int) error {
	width := max(1, len(c.Levels))
	if c.Feature < 0 || c.Feature > d-width || c.Missing < -1 || c.Missing >= d {
		return fmt.Errorf("found features from %d to %d, and %d, wanted them below %d", c.Feature,
			c.Feature+width-1, c.Missing, d)
	}
	if c.Levels != nil && c.Cuts != nil || len(c.Cuts) > mostBins-1 {
		return fmt.Errorf("found %d cuts and %d levels, wanted one of them, and at most %d cuts",
			len(c.Cuts), len(c.Levels), mostBins-1)
	}
	for k, v := range c.Cuts {
		if v != v || k > 0 && v <= c.Cuts[k-1] {
			return fmt.Errorf("found the cuts %v, wanted numbers that increase", c.Cuts)
		}
	}
	for _, b := range c.Levels {
		if b < 0 || b > mostLevels {
			return fmt.Errorf("found bin %d of a level, wanted at most %d", b, mostLevels)
		}
	}
	return nil
}

// checkTree says what is wrong with a tree.
func (m *Model) checkTree(t int) error {
	tree, class := &m.Trees[t], m.Class[t]
	width := 1
	if class < 0 {
		width = m.Q
	}
	if class < -1 || int(class) >= m.Q {
		return fmt.Errorf("found class %d, wanted one below %d, or -1", class, m.Q)
	}
	if len(tree.Values) != width*(len(tree.Nodes)+1) || !finite(tree.Values) {
		return fmt.Errorf("found %d values of %d nodes, wanted %d for each leaf, finite",
			len(tree.Values), len(tree.Nodes), width)
	}
	// Each node but the root, and each leaf, is a child once.
	seen := make([]bool, 2*len(tree.Nodes)+1)
	for k, node := range tree.Nodes {
		if node.Feature < 0 || int(node.Feature) >= len(m.Columns) {
			return fmt.Errorf("found column %d, wanted one below %d", node.Feature, len(m.Columns))
		}
		for _, c := range node.Children {
			at := int(c)
			if c < 0 {
				at = len(tree.Nodes) + int(^c)
			}
			if c >= 0 && int(c) <= k || at >= len(seen) || c >= 0 && at >= len(tree.Nodes) || seen[at] {
				return fmt.Errorf("found child %d of node %d, wanted each node and leaf once, after its "+
					"parent", c, k)
			}
			seen[at] = true
		}
	}
	return nil
}

// Cut returns what a node asks of a number: whether it is below the cut, and whether missing ones
// go the same way. The column must be a number.
func (m *Model) Cut(n *engine.Node) (cut float32, missing bool) {
	c := &m.Columns[n.Feature]
	last := 0 // bin on the left
	for b := 1; b < c.Bins() && n.Left.Has(uint8(b)); b++ {
		last = b
	}
	switch {
	case last == 0:
		cut = float32(math.Inf(-1))
	case last <= len(c.Cuts):
		cut = c.Cuts[last-1]
	default:
		cut = float32(math.Inf(1))
	}
	return cut, n.Left.Has(0)
}

// Steps returns how many rounds of boosting, or trees of a forest, the model has.
func (m *Model) Steps() int {
	if m.Mode == Boost && m.Q > 2 {
		return len(m.Trees) / m.Q
	}
	return len(m.Trees)
}

func finite(values []float32) bool {
	return !slices.ContainsFunc(values, func(v float32) bool { return !decimal.Finite(v) })
}
