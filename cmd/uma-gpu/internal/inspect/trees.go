package inspect

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/model"
)

// treesSummary describes a model of trees.
type treesSummary struct {
	Mode    string       `json:"mode"`
	Trees   int          `json:"trees"`
	Leaves  int          `json:"leaves"`  // of the largest tree
	Columns []importance `json:"columns"` // the most important first
}

// importance is what a column does in trees.
type importance struct {
	Column string  `json:"column"` // its name, or its position from 1
	Gain   float64 `json:"gain"`   // share of what all splits have gained
}

// summariseTrees returns the columns by importance.
func summariseTrees(m *model.Model, top int) *treesSummary {
	t := m.Trees
	s := &treesSummary{Mode: t.Mode, Trees: len(t.Trees), Columns: []importance{}}
	for k, share := range t.Importance() {
		s.Columns = append(s.Columns, importance{columnName(m, k), share})
	}
	slices.SortStableFunc(s.Columns, func(a, b importance) int { return cmp.Compare(b.Gain, a.Gain) })
	s.Columns = s.Columns[:min(top, len(s.Columns))]
	for k := range t.Trees {
		s.Leaves = max(s.Leaves, len(t.Trees[k].Nodes)+1)
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

func (s *treesSummary) rows(row app.Row) {
	if s == nil {
		return
	}
	row("\ncolumn\tshare of the gain")
	for _, c := range s.Columns {
		row("%s\t%.3f", c.Column, c.Gain)
	}
	row("\ntrees\t%d of mode %s, at most %d leaves", s.Trees, s.Mode, s.Leaves)
}
