package issues

import (
	"fmt"

	umagpu "github.com/uma-gpu/uma-gpu"
	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/neighbours"
)

// inRows names examples of d by their rows of the input, from 1. s may be nil.
func inRows(s *umagpu.Survey, d *dataset.Dataset) *umagpu.Survey {
	if s == nil {
		return nil
	}
	for _, set := range s.NearDuplicates {
		for k, i := range set {
			set[k] = d.SourceRow(i) + 1
		}
	}
	for k, o := range s.Outliers {
		s.Outliers[k].Example = d.SourceRow(o.Example) + 1
	}
	for k, g := range s.BadGroups {
		s.BadGroups[k].Example = d.SourceRow(g.Example) + 1
	}
	return s
}

func fillSurvey(row app.Row, s *umagpu.Survey) {
	row("\nsurvey\t")
	if s.Neighbours == 0 {
		row("neighbours\ttoo few rows to tell, fewer than %d", neighbours.FewestForSurvey)
	} else {
		row("near duplicates\t%s", listed(s.NearDuplicates, func(set []int) string {
			return fmt.Sprint(set)
		}))
		row("with other labels\t%d", s.Conflicts)
		row("outliers\t%s", listed(s.Outliers, func(o umagpu.Outlier) string {
			return fmt.Sprint(o.Example)
		}))
		order := "as by chance"
		if s.OrderP <= 0.01 {
			order = "rows near in features are near in the file, or far: shuffle them"
		}
		row("order\t%s, p %.3g", order, s.OrderP)
		row("groups that do badly\t%s", listed(s.BadGroups, func(g umagpu.Group) string {
			return fmt.Sprintf("%d of %d around %d", g.Issues, g.Examples, g.Example)
		}))
	}
	row("classes that do badly\t%s", listed(s.BadClasses, func(c umagpu.Group) string {
		return fmt.Sprintf("%s (%d of %d)", app.Brief(c.Class), c.Issues, c.Examples)
	}))
	row("rare classes\t%s", listed(s.RareClasses, app.Brief))
	row("missing values\t%s", listed(s.Missing, func(m umagpu.Missing) string {
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
