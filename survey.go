package umagpu

import (
	"context"
	"math"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/neighbours"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// Survey is what is odd about data as a whole. Examples are counted from 0.
type Survey struct {
	Neighbours     int       `json:"neighbours"` // of a row; 0: too few rows to tell
	NearDuplicates [][]int   `json:"near_duplicates"`
	Conflicts      int       `json:"near_duplicates_with_other_labels"` // sets
	Outliers       []Outlier `json:"outliers"`                          // the farthest first
	// that the order of the rows is by chance
	OrderP      float64   `json:"order_p"`
	BadClasses  []Group   `json:"bad_classes"`
	BadGroups   []Group   `json:"bad_groups"`
	RareClasses []string  `json:"rare_classes"`
	Missing     []Missing `json:"missing"`
}

// Outlier is an example far from all others, by the mean distance to its neighbours; 1 is the
// median.
type Outlier struct {
	Example  int     `json:"example"`
	Distance float64 `json:"distance"`
}

// Group is a class, or an example and its neighbours, whose labels are wrong more often.
type Group struct {
	Class    string `json:"class,omitempty"`
	Example  int    `json:"example,omitempty"`
	Examples int    `json:"examples"`
	Issues   int    `json:"issues"`
}

// Missing counts the missing values of a column.
type Missing struct {
	Column string `json:"column"`
	Values int    `json:"values"`
}

// surveyNeighbours is how many neighbours tell of a row.
const surveyNeighbours = 10

// survey looks at the data as a whole.
func (f *issueFinder) survey(ctx context.Context, e *engine.Engine) error {
	s := &Survey{NearDuplicates: [][]int{}, Outliers: []Outlier{}, BadGroups: []Group{},
		Missing: f.request.Data.missing()}
	f.result.Survey = s
	f.surveyClasses(s)
	wrong, y := f.result.Wrong, f.set.Y
	rows := lists.Where(f.set.N, func(i int) bool { return int(f.result.Same[i]) == i })
	if len(rows) < neighbours.FewestForSurvey {
		return nil
	}
	s.Neighbours = surveyNeighbours
	near, err := neighbours.OfDataset(ctx, e, f.set, rows, surveyNeighbours)
	if err != nil {
		return err
	}
	found := near.Survey(lists.At(wrong, rows))
	s.OrderP = found.OrderP
	for _, set := range found.Near {
		set = lists.At(rows, set)
		s.NearDuplicates = append(s.NearDuplicates, set)
		labels := lists.Keep(lists.At(y, set), func(k int32) bool { return k >= 0 })
		if len(lists.Set(labels)) > 1 {
			s.Conflicts++
		}
	}
	for _, i := range found.Outliers {
		s.Outliers = append(s.Outliers, Outlier{rows[i], found.Distance[i]})
	}
	for _, g := range found.Groups {
		some := lists.At(rows, g.Examples)
		s.BadGroups = append(s.BadGroups, Group{Example: rows[g.Center], Examples: len(some),
			Issues: lists.Count(some, func(i int) bool { return wrong[i] })})
	}
	return nil
}

// surveyClasses finds the classes whose labels are wrong more often than all others by more than
// chance, which is five in a hundred for all classes together, and those with less than a tenth of
// their share, were all alike.
func (f *issueFinder) surveyClasses(s *Survey) {
	q := len(f.set.Classes)
	examples, issues := make([]float64, q), make([]float64, q)
	for i, k := range f.set.Y {
		if k < 0 {
			continue
		}
		if examples[k]++; f.result.Wrong[i] {
			issues[k]++
		}
	}
	s.BadClasses, s.RareClasses = []Group{}, []string{}
	all, wrong := lists.Sum(examples), lists.Sum(issues)
	wanted := math.Sqrt2 * math.Erfinv(1-2*0.05/float64(q))
	for k, n := range examples {
		if 10*n*float64(q) < all {
			s.RareClasses = append(s.RareClasses, f.set.Classes[k])
		}
		if n == 0 || n == all {
			continue
		}
		share := wrong / all
		more := issues[k]/n - (wrong-issues[k])/(all-n)
		if more > wanted*math.Sqrt(share*(1-share)*(1/n+1/(all-n))) {
			s.BadClasses = append(s.BadClasses, Group{Class: f.set.Classes[k], Examples: int(n),
				Issues: int(issues[k])})
		}
	}
}

// missing counts the missing values of columns that have some.
func (d *Data) missing() []Missing {
	list := []Missing{}
	if d.set != nil {
		for _, m := range d.set.Missing {
			list = append(list, Missing{m.Column, m.Values})
		}
	}
	if d.Table == nil {
		return list
	}
	for _, c := range d.Table.Columns {
		n := lists.Count(c.Numbers, func(v float64) bool { return math.IsNaN(v) }) +
			lists.Count(c.Codes, func(k int32) bool { return k < 0 })
		for k, end := range c.Ends {
			if end == 0 || k > 0 && end == c.Ends[k-1] {
				n++
			}
		}
		if n > 0 {
			list = append(list, Missing{c.Name, n})
		}
	}
	return list
}
