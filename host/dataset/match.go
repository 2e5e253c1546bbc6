package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// MatchFeatures gives d the named features in that order, in a copy unless they agree already;
// others are given up with a note. Without names in d, position counts, with a note. A missing or
// repeated name is an error, and another order of prepared examples.
func (d *Dataset) MatchFeatures(wanted []string) error {
	switch {
	case wanted == nil:
		return nil
	case d.Features == nil && len(wanted) != d.FeatureCount():
		return d.Errorf("found %d features without names, wanted %d: %s", d.FeatureCount(),
			len(wanted), quote.List(wanted))
	case d.Features == nil:
		d.Notes = append(d.Notes,
			fmt.Sprintf("%s: the features have no names here and are matched by position with %s",
				d.Path, quote.List(wanted)))
		return nil
	}
	at, fault := MatchNames(d.Features, wanted)
	switch {
	case fault != "":
		return d.Errorf("%s", fault)
	case at == nil:
		return nil
	case d.Prepared != nil:
		return d.Errorf("found examples prepared from the features %s, wanted %s in this order; take "+
			"the original data", quote.List(d.Features), quote.List(wanted))
	}
	if note := ExtraNote(d.Features, wanted); note != "" {
		d.Notes = append(d.Notes, d.Path+": "+note)
	}
	x, err := takeColumns(d.Examples, at)
	d.Examples, d.ReadOnly = x, false
	d.Features, d.Encoding, d.SHA256 = slices.Clone(wanted), nil, ""
	return err
}

// takeColumns returns a copy whose column k is column at[k] of e.
func takeColumns(e Examples, at []int) (Examples, error) {
	if !e.Sparse() {
		what := fmt.Sprintf("a copy of %d features of %d examples", len(at), e.N)
		if err := memory.Check(memory.Product(e.N, len(at), 4), what); err != nil {
			return e, err
		}
		p := Examples{N: e.N, D: len(at), X: make([]float32, e.N*len(at))}
		parallel.Ranges(e.N, 64, func(from, to int) {
			for i := from; i < to; i++ {
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
	stored := lists.Count(e.Columns, func(j int32) bool { return place[j] > 0 })
	p.Starts, p.Columns, p.Values = make([]int64, 1, e.N+1), make([]int32, 0, stored), make([]float32,
		0, stored)
	type entry struct {
		column int32
		value  float32
	}
	var row []entry
	for i := range e.N {
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
	return p, nil
}

// maxName is the most bytes of a class name: 65536 characters, which an .npz file holds.
const maxName = 4 << 16

// NameFault returns why JSON cannot hold a class name; "" if it can.
func NameFault(name string) string {
	switch {
	case len(name) > maxName:
		return fmt.Sprintf("has %d bytes, wanted at most %d", len(name), maxName)
	case !utf8.ValidString(name):
		return "is not valid UTF-8"
	}
	return ""
}

// ClassFault returns NameFault, or what CSV or a terminal would change or hide of a class name; ""
// if nothing.
func ClassFault(name string) string {
	switch fault := NameFault(name); {
	case fault != "":
		return fault
	case name == "":
		return "is empty"
	case strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsControl(r) || r == '\ufeff'
	}):
		return "holds a control character or a byte order mark (is a quote not closed?)"
	}
	return ""
}

// byPosition ends the errors of matching by name.
func byPosition() string {
	return "; if only the names differ, match by position (" +
		quote.Option("match-features", "position") + ")"
}

// MatchNames returns the index in have of each name of want, nil if the lists are equal, or what
// keeps them from being matched.
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
	wanted := lists.Set(want)
	extra := lists.Keep(have, func(name string) bool { return !wanted[name] })
	if extra == nil {
		return ""
	}
	return "ignored are columns that the model does not know: " + quote.List(extra)
}
