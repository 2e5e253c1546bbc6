package issues

import (
	"context"
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/training"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/neighbours"
)

// survey is what issues --survey finds in the data as a whole. Examples are rows of the input, from
// 1.
type survey struct {
	Neighbours int                    `json:"neighbours"` // of a row; 0: too few rows to tell
	Near       [][]int                `json:"near_duplicates"`
	Conflicts  int                    `json:"near_duplicates_with_other_labels"` // sets
	Outliers   []outlier              `json:"outliers"`                          // the farthest first
	OrderP     float64                `json:"order_p"`
	Classes    []badGroup             `json:"bad_classes"`
	Groups     []badGroup             `json:"bad_groups"`
	Rare       []string               `json:"rare_classes"`
	Missing    []dataset.MissingCount `json:"missing"`
}

// outlier is a row far from all others, by the mean distance to its neighbours; 1 is the median.
type outlier struct {
	Example  int     `json:"example"`
	Distance float64 `json:"distance"`
}

// badGroup is a class, or a row and those around it, whose labels are wrong more often.
type badGroup struct {
	Class    string `json:"class,omitempty"`
	Example  int    `json:"example,omitempty"`
	Examples int    `json:"examples"`
	Issues   int    `json:"issues"`
}

// surveyNeighbours is how many neighbours tell of a row.
const surveyNeighbours = 10

// survey looks at the data of f, whose labels found judges.
func (o *Options) survey(ctx context.Context, f *training.OutOfFold, found []estimate.Issue,
	r *Report) error {
	d := f.Dataset
	s := &survey{Near: [][]int{}, Outliers: []outlier{}, Classes: []badGroup{}, Groups: []badGroup{},
		Rare: rareClasses(r.PerClass), Missing: append([]dataset.MissingCount{}, d.Missing...)}
	s.Classes = badClasses(r)
	r.Survey = s
	var rows []int // one of equal ones
	var marked []bool
	for i, first := range dataset.Firsts(d.Examples) {
		if int(first) == i {
			rows, marked = append(rows, i), append(marked, found[i].Wrong)
		}
	}
	if len(rows) < neighbours.FewestForSurvey {
		return nil
	}
	s.Neighbours = surveyNeighbours
	var near *neighbours.Graph
	err := f.Learn(ctx, func(with host.Options) (err error) {
		near, err = neighbours.OfDataset(ctx, with.Engine, d, rows, surveyNeighbours)
		return err
	})
	if err != nil {
		return err
	}
	told := near.Survey(marked)
	s.OrderP = told.OrderP
	for _, set := range told.Near {
		numbers, conflict := make([]int, len(set)), false
		for k, i := range set {
			numbers[k] = d.SourceRow(rows[i]) + 1
			conflict = conflict || d.Y[rows[i]] != d.Y[rows[set[0]]]
		}
		if s.Near = append(s.Near, numbers); conflict {
			s.Conflicts++
		}
	}
	for _, i := range told.Outliers {
		s.Outliers = append(s.Outliers, outlier{d.SourceRow(rows[i]) + 1, told.Distance[i]})
	}
	for _, g := range told.Groups {
		bad := badGroup{Example: d.SourceRow(rows[g.Center]) + 1, Examples: len(g.Examples)}
		for _, i := range g.Examples {
			if marked[i] {
				bad.Issues++
			}
		}
		s.Groups = append(s.Groups, bad)
	}
	return nil
}

// badClasses are those whose labels are wrong more often than all others by more than chance,
// which is five in a hundred for all classes together.
func badClasses(r *Report) []badGroup {
	bad := []badGroup{}
	wanted := math.Sqrt2 * math.Erfinv(1-2*0.05/float64(len(r.PerClass)))
	for _, c := range r.PerClass {
		n, others := float64(c.Examples), float64(r.Examples-c.Examples)
		if n == 0 || others == 0 {
			continue
		}
		all := float64(r.Issues) / float64(r.Examples)
		more := float64(c.Issues)/n - float64(r.Issues-c.Issues)/others
		if more > wanted*math.Sqrt(all*(1-all)*(1/n+1/others)) {
			bad = append(bad, badGroup{Class: c.Class, Examples: c.Examples, Issues: c.Issues})
		}
	}
	return bad
}

// rareClasses are those with less than a tenth of their share, were all alike.
func rareClasses(classes []classIssues) []string {
	rare, all := []string{}, 0
	for _, c := range classes {
		all += c.Examples
	}
	for _, c := range classes {
		if 10*c.Examples*len(classes) < all {
			rare = append(rare, c.Class)
		}
	}
	return rare
}

func (s *survey) fill(row app.Row) {
	row("\nsurvey\t")
	if s.Neighbours == 0 {
		row("neighbours\ttoo few rows to tell, fewer than %d", neighbours.FewestForSurvey)
	} else {
		row("near duplicates\t%s", listed(s.Near, func(set []int) string { return fmt.Sprint(set) }))
		row("with other labels\t%d", s.Conflicts)
		row("outliers\t%s", listed(s.Outliers, func(o outlier) string { return fmt.Sprint(o.Example) }))
		order := "as by chance"
		if s.OrderP <= 0.01 {
			order = "rows near in features are near in the file, or far: shuffle them"
		}
		row("order\t%s, p %.3g", order, s.OrderP)
		row("groups that do badly\t%s", listed(s.Groups, func(g badGroup) string {
			return fmt.Sprintf("%d of %d around %d", g.Issues, g.Examples, g.Example)
		}))
	}
	row("classes that do badly\t%s", listed(s.Classes, func(c badGroup) string {
		return fmt.Sprintf("%s (%d of %d)", app.Brief(c.Class), c.Issues, c.Examples)
	}))
	row("rare classes\t%s", listed(s.Rare, app.Brief))
	row("missing values\t%s", listed(s.Missing, func(m dataset.MissingCount) string {
		return fmt.Sprintf("%d in %s", m.Values, app.Brief(m.Column))
	}))
}

// listed gives their number, and the first few.
func listed[T any](list []T, text func(T) string) string {
	if len(list) == 0 {
		return "0"
	}
	return fmt.Sprintf("%d: %s", len(list), app.First(list, 10, text))
}
