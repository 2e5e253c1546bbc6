package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// treesSummary describes a model of trees.
type treesSummary struct {
	Mode    string       `json:"mode"`
	Trees   int          `json:"trees"`
	Leaves  int          `json:"leaves"`  // of the largest tree
	Columns []importance `json:"columns"` // the most important first
	First   []string     `json:"first"`   // the lines of the first tree of each class
}

// importance is what a column does in trees.
type importance struct {
	Column string  `json:"column"` // its name, or its position from 1
	Gain   float64 `json:"gain"`   // share of what all splits have gained
}

// How much of trees is printed.
const (
	mostDepth  = 6
	mostLevels = 5
)

// summariseTrees returns the columns by importance, and the first trees as text.
func summariseTrees(m *model.Model, top int) *treesSummary {
	t := m.Trees
	s := &treesSummary{Mode: t.Mode, Trees: len(t.Trees), Columns: []importance{}}
	for k, share := range t.Importance() {
		s.Columns = append(s.Columns, importance{columnName(m, k), share})
	}
	slices.SortStableFunc(s.Columns, func(a, b importance) int { return cmp.Compare(b.Gain, a.Gain) })
	s.Columns = s.Columns[:min(top, len(s.Columns))]
	seen := map[int32]bool{}
	for k := range t.Trees {
		s.Leaves = max(s.Leaves, len(t.Trees[k].Nodes)+1)
		if class := t.Class[k]; !seen[class] {
			seen[class] = true
			head := "tree 1: shares of the labels " + strings.Join(m.Meta.Classes, ", ")
			if class >= 0 {
				head = fmt.Sprintf("tree %d: score of class %s", k+1, m.Meta.Classes[class])
			}
			s.First = append(s.First, head)
			s.First = append(s.First, branch(m, &t.Trees[k], 0, "  ")...)
		}
	}
	return s
}

// columnName returns the name of a column of trees, or its position from 1.
func columnName(m *model.Model, column int) string {
	at, f := m.Trees.Source[column], &m.Meta.Features
	name := strconv.Itoa(at + 1)
	if e := f.Encoding; e != nil {
		return cmp.Or(e.Columns[at].Name, name)
	}
	if at < len(f.Names) {
		return f.Names[at]
	}
	return name
}

// branch returns the lines of a node, a leaf if at is negative, and of what is below it.
func branch(m *model.Model, t *engine.Tree, at int32, indent string) []string {
	if len(t.Nodes) == 0 {
		at = -1
	}
	if at < 0 {
		width := len(t.Values) / (len(t.Nodes) + 1)
		var values []string
		for _, v := range t.Values[int(^at)*width : int(^at+1)*width] {
			values = append(values, fmt.Sprintf("%.4g", v))
		}
		return []string{indent + strings.Join(values, " ")}
	}
	if len(indent) > 2*mostDepth {
		return []string{indent + "…"}
	}
	n := &t.Nodes[at]
	lines := append([]string{indent + question(m, n)}, branch(m, t, n.Children[0], indent+"  ")...)
	lines = append(lines, indent+"else")
	return append(lines, branch(m, t, n.Children[1], indent+"  ")...)
}

// question returns what sends an example to the first child of a node.
func question(m *model.Model, n *engine.Node) string {
	c, name := &m.Trees.Columns[n.Feature], columnName(m, int(n.Feature))
	var column dataset.Column
	if e := m.Meta.Features.Encoding; e != nil {
		column = e.Columns[m.Trees.Source[n.Feature]]
	}
	if c.Levels == nil {
		cut, missing := m.Trees.Cut(n)
		text := fmt.Sprintf("%s < %s", name,
			strconv.FormatFloat(column.Origin+float64(cut), 'g', 6, 64))
		if missing {
			text += " or missing"
		}
		return text
	}
	var levels []string
	for l, bin := range c.Levels {
		if bin > 0 && n.Left.Has(uint8(bin)) {
			levels = append(levels, app.Shorten(column.Levels[l]))
		}
	}
	if more := len(levels) - mostLevels; more > 0 {
		levels = append(levels[:mostLevels], fmt.Sprintf("%d more", more))
	}
	if n.Left.Has(0) {
		levels = append(levels, "missing, rare or unknown")
	}
	return fmt.Sprintf("%s is %s", name, strings.Join(levels, ", "))
}

func (s *treesSummary) rows(row app.Row) {
	if s == nil {
		return
	}
	row("\ncolumn\tshare of the gain")
	for _, c := range s.Columns {
		row("%s\t%.3f", c.Column, c.Gain)
	}
	row("\ntrees\t%d of mode %s, at most %d leaves", s.Trees, s.Mode, s.Leaves)
	for _, line := range s.First {
		row("%s", line)
	}
}
