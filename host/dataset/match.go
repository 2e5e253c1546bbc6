package dataset

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/internal/quote"
	"github.com/uma-gpu/uma-gpu/internal/setting"
)

// byPosition ends the errors of matching by name.
func byPosition() string {
	return "; if only the names differ, match by position (" +
		setting.Spell("match-features", "position") + ")"
}

// MatchFeatures gives d the named features in that order, in a copy unless they agree already;
// others are given up with a note. Without names in d, position counts, with a note. A missing or
// repeated name is an error, and another order of prepared examples.
func (d *Dataset) MatchFeatures(names []string) error {
	switch {
	case names == nil:
		return nil
	case d.Features == nil && len(names) != d.FeatureCount():
		return d.Errorf("found %d features without names, wanted %d: %s", d.FeatureCount(),
			len(names), quote.List(names))
	case d.Features == nil:
		d.Notes = append(d.Notes,
			fmt.Sprintf("%s: the features have no names here and are matched by position with %s",
				d.Path, quote.List(names)))
		return nil
	}
	at, fault := MatchNames(d.Features, names)
	switch {
	case fault != "":
		return d.Errorf("%s", fault)
	case at == nil:
		return nil
	case d.Prepared != nil:
		return d.Errorf("found examples prepared from the features %s, wanted %s in this order; take "+
			"the original data", quote.List(d.Features), quote.List(names))
	}
	if note := ExtraNote(d.Features, names); note != "" {
		d.Notes = append(d.Notes, d.Path+": "+note)
	}
	x, err := d.Stored().takeColumns(at)
	d.Put(x)
	d.Features, d.Encoding, d.SHA256 = slices.Clone(names), nil, ""
	return err
}

// MatchNames returns the place of each of want in have, nil if the lists are equal.
func MatchNames(have, want []string) (at []int, fault string) {
	if slices.Equal(have, want) {
		return nil, ""
	}
	const twice = -1
	place := make(map[string]int, len(have))
	for j, name := range have {
		if _, seen := place[name]; seen {
			j = twice
		}
		place[name] = j
	}
	at = make([]int, 0, len(want))
	asked := make(map[string]bool, len(want))
	var missing []string
	for _, name := range want {
		if asked[name] {
			return nil, fmt.Sprintf("several features wanted have the name %s, so that names do not tell "+
				"them apart: found the features %s, wanted %s in this order%s", quote.Text(name),
				quote.List(have),
				quote.List(want), byPosition())
		}
		asked[name] = true
		switch j, there := place[name]; {
		case !there:
			missing = append(missing, name)
		case j == twice:
			return nil, fmt.Sprintf("found several features named %s, wanted one; rename one of them",
				quote.Text(name))
		default:
			at = append(at, j)
		}
	}
	if missing != nil {
		return nil, fmt.Sprintf("found the features %s, wanted also %s, %d of the %d that the model was "+
			"trained on%s", quote.List(have), quote.List(missing), len(missing), len(want), byPosition())
	}
	return at, ""
}

// ExtraNote says which of have are not wanted, "" if all are.
func ExtraNote(have, want []string) string {
	var extra []string
	wanted := NameSet(want)
	for _, name := range have {
		if !wanted[name] {
			extra = append(extra, name)
		}
	}
	if extra == nil {
		return ""
	}
	return "ignored are columns that the model does not know: " + quote.List(extra)
}

// set returns the names as a set.
func NameSet(names []string) map[string]bool {
	s := make(map[string]bool, len(names))
	for _, name := range names {
		s[name] = true
	}
	return s
}

// takeColumns returns a copy whose column k is column at[k] of e. It asks all ranks.
func (e Stored) takeColumns(at []int) (Stored, error) {
	first, last := e.Own()
	if !e.Sparse() {
		p, err := e.Like(len(at))
		if err != nil {
			return p, err
		}
		parallel.Ranges(last-first, 64, func(from, to int) {
			for i := first + from; i < first+to; i++ {
				row, taken := e.Row(i), p.Row(i)
				for k, j := range at {
					taken[k] = row[j]
				}
			}
		})
		return p, nil
	}
	p := Examples{N: e.N, D: len(at)}
	place := make([]int32, e.D) // where a column goes, counted from 1; 0 if nowhere
	for k, j := range at {
		place[j] = int32(k) + 1
	}
	stored := 0
	for _, j := range e.Columns[e.Starts[first]:e.Starts[last]] {
		if place[j] > 0 {
			stored++
		}
	}
	p.Starts, p.Columns, p.Values = make([]int64, 1, e.N+1), make([]int32, 0, stored), make([]float32,
		0, stored)
	type entry struct {
		column int32
		value  float32
	}
	var row []entry
	for i := first; i < last; i++ {
		columns, values := e.SparseRow(i)
		row = row[:0]
		for k, j := range columns {
			if place[j] > 0 {
				row = append(row, entry{place[j] - 1, values[k]})
			}
		}
		slices.SortFunc(row, func(a, b entry) int { return cmp.Compare(a.column, b.column) })
		for _, v := range row {
			p.Columns, p.Values = append(p.Columns, v.column), append(p.Values, v.value)
		}
		p.Starts = append(p.Starts, int64(len(p.Values)))
	}
	if e.At.Shared() == nil {
		return p.Stored(), nil
	}
	return spreadOver(e.At.Shared().Other(), p)
}
