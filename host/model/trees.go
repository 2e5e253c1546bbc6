package model

import (
	"errors"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/ensemble"
)

// Trees is what meta.json has of a ensemble.Model: all but its trees.
type Trees struct {
	Mode    string            `json:"mode"`
	Unmix   bool              `json:"unmix,omitempty"`
	Columns []ensemble.Column `json:"columns"`
	Source  []int             `json:"source"`
	Base    []float32         `json:"base"`
	Gain    []float64         `json:"gain"`
}

// The members that hold trees.
const (
	treeSizesName  = "tree_sizes.npy"
	treeNodesName  = "tree_nodes.npy"
	treeLeftName   = "tree_left.npy"
	treeValuesName = "tree_values.npy"
)

// SetTrees makes t the trees of m, sharing memory with it.
func (m *Model) SetTrees(t *ensemble.Model) {
	m.Trees, m.W, m.D = t, nil, m.Meta.Preparation.Width()
	m.Meta.Trees = &Trees{t.Mode, t.Unmix, t.Columns, t.Source, t.Base, t.Gain}
}

// treeScores is engine.Scores of trees, which need neither engine nor weights.
func (m *Model) treeScores(_ *engine.Engine, _ engine.Weights, x dataset.Examples) ([]float32,
	error) {
	scores := make([]float32, x.N*m.Q)
	m.Trees.Scores(scores, x, m.Confusion)
	return scores, nil
}

// checkTrees says what is wrong with the trees of m.
func (m *Model) checkTrees() error {
	switch t := m.Trees; {
	case m.Meta.Trees == nil:
		return errors.New("meta.json: trees: found none, wanted what the trees look at")
	case len(m.W) != 0 || m.Projection != nil:
		return errors.New("found trees beside weights or a kernel map, wanted one of them")
	case t.Q != m.Q:
		return fmt.Errorf("found trees of %d classes, wanted %d", t.Q, m.Q)
	case t.Unmix && m.Confusion == nil:
		return fmt.Errorf("%s: found none, wanted the matrix that unmixes the shares of a forest",
			confusionName)
	}
	return m.Trees.Check(m.Meta.Preparation.Width())
}

// treeMembers returns the members of trees.
func treeMembers(m *ensemble.Model) []member {
	var sizes, nodes []int32
	var left []int64
	var values []float32
	for k, t := range m.Trees {
		sizes = append(sizes, int32(len(t.Nodes)), m.Class[k])
		for _, n := range t.Nodes {
			nodes = append(nodes, n.Feature, n.Children[0], n.Children[1])
			for _, word := range n.Left {
				left = append(left, int64(word))
			}
		}
		values = append(values, t.Values...)
	}
	if sizes == nil {
		return nil
	}
	list := []member{array(treeSizesName, len(m.Trees), 2, sizes)}
	if nodes != nil {
		list = append(list, array(treeNodesName, len(nodes)/3, 3, nodes),
			array(treeLeftName, len(left)/4, 4, left))
	}
	return append(list, array(treeValuesName, 1, len(values), values))
}

// readTrees reads the trees that meta describes.
func readTrees(a *contents, meta *Trees, q int) *ensemble.Model {
	m := &ensemble.Model{Q: q, Mode: meta.Mode, Unmix: meta.Unmix, Columns: meta.Columns,
		Source: meta.Source, Base: meta.Base, Gain: meta.Gain}
	if !a.has(treeSizesName) {
		return m
	}
	sizes, nodes := some[int32](a, treeSizesName), some[int32](a, treeNodesName)
	left, values := some[int64](a, treeLeftName), some[float32](a, treeValuesName)
	if len(sizes)%2 != 0 || len(nodes)%3 != 0 || 3*len(left) != 4*len(nodes) {
		a.fail(fmt.Errorf("%s, %s and %s: found %d, %d and %d numbers, wanted rows of 2, 3 and 4",
			treeSizesName, treeNodesName, treeLeftName, len(sizes), len(nodes), len(left)))
		return m
	}
	for ; len(sizes) > 0; sizes = sizes[2:] {
		n, width := int(sizes[0]), 1
		if sizes[1] < 0 {
			width = q
		}
		if n < 0 || 3*n > len(nodes) || (n+1)*width > len(values) {
			a.fail(fmt.Errorf("%s: found a tree of %d nodes where %d nodes and %d values are left",
				treeSizesName, n, len(nodes)/3, len(values)))
			return m
		}
		t := engine.Tree{Values: values[: (n+1)*width : (n+1)*width]}
		for k := range n {
			node := engine.Node{Feature: nodes[3*k], Children: [2]int32(nodes[3*k+1 : 3*k+3])}
			for w := range node.Left {
				node.Left[w] = uint64(left[4*k+w])
			}
			t.Nodes = append(t.Nodes, node)
		}
		nodes, left, values = nodes[3*n:], left[4*n:], values[(n+1)*width:]
		m.Trees, m.Class = append(m.Trees, t), append(m.Class, sizes[1])
	}
	if len(nodes) > 0 || len(values) > 0 {
		a.fail(fmt.Errorf("%s: found %d nodes and %d values of no tree", treeNodesName, len(nodes)/3,
			len(values)))
	}
	return m
}
