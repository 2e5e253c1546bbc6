package encode

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/mapped"
	"github.com/uma-gpu/uma-gpu/internal/option"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// census counts what the examples have of each mark.
type census struct {
	n      int     // examples
	counts []int64 // examples that have the mark
}

// countMarks counts the marks of e.
func countMarks(s *Encoder, e dataset.Examples) *census {
	c := &census{n: e.N, counts: make([]int64, len(s.marks))}
	for _, m := range e.Columns {
		c.counts[m]++
	}
	return c
}

// Encode returns features of rows of marks; the first time it learns the recipe.
func (s *Encoder) Encode(ctx context.Context, room *mapped.Scratch,
	e dataset.Examples) (dataset.Examples, error) {
	all := countMarks(s, e)
	if s.recipe == nil {
		if err := learn(s, e, all); err != nil {
			return dataset.Examples{}, err
		}
	}
	for k := range s.columns {
		c := &s.columns[k]
		if c.spoken = 0; c.gap != noMark {
			c.gaps += int(all.counts[c.gap])
		}
	}
	for m := range s.first {
		s.columns[s.marks[m].column].strange += int(all.counts[m])
	}
	return s.features(ctx, room, e)
}

// learn makes the recipe of all marks that good examples have.
func learn(s *Encoder, e dataset.Examples, all *census) error {
	recipe := &dataset.Encoding{Missing: s.missing, Columns: make([]dataset.Column, len(s.columns))}
	means, knots := meansOf(s, e, all), knotsOf(s, e)
	terms, idf, err := vocabularies(s, all)
	if err != nil {
		return err
	}
	for k := range s.columns {
		c := &s.columns[k]
		column := dataset.Column{Name: c.Name, Kind: c.Kind}
		column.Indicator = s.missing == dataset.MissingIndicator && c.gap != noMark &&
			all.counts[c.gap] > 0
		if c.Kind == dataset.KindNumber {
			if column.Knots = knots[k]; s.missing != dataset.MissingError {
				column.Mean = &means[k]
			}
		} else if c.Kind == dataset.KindText {
			column.Terms, column.IDF = terms[k], idf[k]
		} else if c.Kind == dataset.KindCategory {
			levels := 0
			column.Levels, levels = commonLevels(s, c, all)
			if why := judgeLevels(s, c, levels, all.n); why != "" && !s.lenient {
				return fmt.Errorf("%s: %s %s; %s", s.path, c.Text, why, c.advice())
			} else if why != "" || column.Levels == nil {
				c.Why, c.rare, c.Kind = cmp.Or(why, c.rare), "", dataset.KindAside
			}
		}
		if c.Kind == dataset.KindAside {
			column = dataset.Column{Name: c.Name, Kind: c.Kind}
		}
		recipe.Columns[k] = column
	}
	if err := recipe.Check(); err != nil { // a name that is not UTF-8
		return fmt.Errorf("%s: %w", s.path, err)
	}
	s.recipe = recipe
	return nil
}

// meansOf returns the mean of each column's numbers in the order of the examples.
func meansOf(s *Encoder, e dataset.Examples, all *census) []float32 {
	sums := make([]float64, len(s.columns))
	for k, m := range e.Columns {
		if s.marks[m].kind == isNumber {
			sums[s.marks[m].column] += float64(e.Values[k])
		}
	}
	means := make([]float32, len(sums))
	for k := range s.columns {
		n := all.n
		if gap := s.columns[k].gap; gap != noMark {
			n -= int(all.counts[gap])
		}
		if n > 0 {
			zero := 0
			means[k] = decimal.Flush(float32(sums[k]/float64(n)), &zero)
		}
	}
	return means
}

// few examples say nothing of a category's levels.
const few = 20

// commonLevels returns the levels of a category that become features, and how many it has in all:
// rare levels teach nothing, and options set the limit.
func commonLevels(s *Encoder, c *cellColumn, all *census) (common []string, n int) {
	for level, mark := range c.levels {
		if count := all.counts[mark]; count > 0 {
			if n++; count >= features.RareLevel || all.n < few || c.Chosen {
				common = append(common, level)
			}
		}
	}
	if most := cmp.Or(s.o.Levels, features.DefaultLevels); len(common) > most {
		slices.SortFunc(common, func(a, b string) int {
			return cmp.Or(cmp.Compare(all.counts[c.levels[b]], all.counts[c.levels[a]]),
				strings.Compare(a, b))
		})
		common = common[:most]
	}
	dataset.SortClasses(common)
	if n > len(common) {
		c.rare = fmt.Sprintf("%d of its %d levels are rare and have no feature (%s keeps more)",
			n-len(common), n, option.Named("categories", c.Option))
	}
	return common, n
}

// judgeLevels says why a column is no category: most examples have their own level, or none.
func judgeLevels(s *Encoder, c *cellColumn, levels, n int) (why string) {
	switch {
	case levels == 0:
		return "holds no value but missing ones"
	case s.o.Levels == 0 && !c.Chosen && n >= few && 2*levels > n:
		return fmt.Sprintf("holds %d different texts in %d examples, such as %s, wanted a category, "+
			"whose levels come again", levels, n, quote.Text(slices.Min(slices.Collect(
			maps.Keys(c.levels)))))
	}
	return ""
}

// weight is the value of a feature.
type weight struct {
	feature int32
	value   float32
}

// noFeature is where a mark goes that becomes no feature.
const noFeature = -1

// features makes examples of the recipe's features of rows of marks.
func (s *Encoder) features(ctx context.Context, room *mapped.Scratch,
	e dataset.Examples) (x dataset.Examples, err error) {
	const step = 1 << 12 // examples between reports
	_, task := progress.Begin(ctx, progress.Work{Name: "making features", Unit: "example",
		Total: int64(e.N)})
	defer task.End()
	first := make([]int32, len(s.recipe.Columns)) // the first feature of each column
	next := int32(0)
	levels := make([]map[string]int32, len(first))
	for k := range s.recipe.Columns {
		c := &s.recipe.Columns[k]
		first[k], levels[k] = next, make(map[string]int32, len(c.Levels))
		for l, level := range c.Levels {
			levels[k][level] = next + int32(l)
		}
		next += int32(c.Width())
	}
	goes := make([]int32, len(s.marks))
	for m, mark := range s.marks {
		at := s.columns[mark.column].at
		c := &s.recipe.Columns[at]
		goes[m] = noFeature
		switch mark.kind {
		case isNumber:
			goes[m] = first[at]
		case isTerm:
			if place, known := termPlace(c, mark.level); known {
				goes[m] = first[at] + int32(place)
			}
		case isLevel:
			if feature, known := levels[at][mark.level]; known {
				goes[m] = feature
			}
		case isGap:
			if c.Indicator {
				goes[m] = first[at] + int32(c.Width()) - 1
			}
		}
	}
	x = dataset.Examples{N: e.N, D: int(next), Starts: make([]int64, 1, e.N+1)}
	most := len(e.Columns)
	for _, m := range e.Columns {
		most += len(s.recipe.Columns[s.columns[s.marks[m].column].at].Knots)
		if s.marks[m].kind == isGap { // which may become a mean and an indicator
			most++
		}
	}
	if x.Columns, err = mapped.Make[int32](room, most); err != nil {
		return x, err
	}
	if x.Values, err = mapped.Make[float32](room, most); err != nil {
		return x, err
	}
	x.Columns, x.Values = x.Columns[:0], x.Values[:0]
	var row []weight
	for i := range e.N {
		if i%step == 0 {
			if err := ctx.Err(); err != nil {
				return dataset.Examples{}, err
			}
			task.Reach(int64(i))
		}
		row = row[:0]
		marks, values := e.SparseRow(i)
		for k := 0; k < len(marks); k++ {
			m := marks[k]
			c := &s.columns[s.marks[m].column]
			at := c.at
			if s.marks[m].kind == isTerm {
				end := k + 1
				for end < len(marks) && s.marks[marks[end]].column == s.marks[m].column {
					end++
				}
				before := len(row)
				row = s.weigh(row, marks[k:end], values[k:end], goes, s.recipe.Columns[at].IDF, first[at])
				if len(row) > before {
					c.spoken++
				}
				k = end - 1
				continue
			}
			column := &s.recipe.Columns[at]
			if goes[m] != noFeature {
				row = append(row, weight{goes[m], values[k]})
			}
			number, known := values[k], s.marks[m].kind == isNumber
			if s.marks[m].kind == isGap && column.Mean != nil {
				number, known = *column.Mean, true
				row = append(row, weight{first[at], number})
			}
			if known {
				for t, knot := range column.Knots {
					row = append(row, weight{first[at] + int32(1+t), dataset.Bend(number, knot)})
				}
			}
		}
		slices.SortFunc(row, func(a, b weight) int { return cmp.Compare(a.feature, b.feature) })
		for _, v := range row {
			if math.Float32bits(v.value) != 0 {
				x.Columns, x.Values = append(x.Columns, v.feature), append(x.Values, v.value)
			}
		}
		x.Starts = append(x.Starts, int64(len(x.Values)))
	}
	task.Reach(int64(e.N))
	return x, nil
}

// About stores the encoding, and notes on the findings, in d.
func (s *Encoder) About(d *dataset.Dataset) {
	d.Encoding, d.Features = s.recipe, s.recipe.FeatureNames()
	for k := range s.columns {
		c := &s.columns[k]
		if c.Kind == dataset.KindAside && c.Why != "" {
			d.Notes = append(d.Notes, fmt.Sprintf("%s: %s is set aside: it %s (%s makes a category of it, "+
				"%s a text)", s.path, c.Text, c.Why, option.Named("categories", c.Option),
				option.Named("text", c.Option)))
		} else if c.Why != "" {
			d.Notes = append(d.Notes, fmt.Sprintf("%s: %s %s (%s leaves it out)", s.path, c.Text, c.Why,
				option.Named("ignore-columns", c.Option)))
		}
		if c.Why = ""; c.loose != "" {
			d.Notes = append(d.Notes, fmt.Sprintf("%s: %s has numbers such as %s, which is read as %v",
				s.path, c.Text, quote.Text(c.loose), c.looseAs))
			c.loose = ""
		}
		if c.rare != "" {
			d.Notes = append(d.Notes, fmt.Sprintf("%s: %s: %s", s.path, c.Text, c.rare))
			c.rare = ""
		}
		if c.odd > 0 {
			d.Warnings = append(d.Warnings, fmt.Sprintf("%s: %s holds %d values that are no numbers, such "+
				"as %s in %s %d, which count as missing; if it is a category, say so (%s)", s.path, c.Text,
				c.odd, quote.Text(c.oddText), s.places, c.oddAt, option.Named("categories", c.Option)))
			c.odd = 0
		}
		if c.gaps > 0 {
			d.Missing = append(d.Missing, dataset.MissingCount{Column: c.Text, Values: c.gaps})
		}
	}
	d.Warnings = append(d.Warnings, unknownLevels(s)...)
	for k := range s.columns {
		for _, note := range s.columns[k].textNotes(d.N) {
			d.Notes = append(d.Notes, s.path+": "+note)
		}
	}
}

// unknownLevels words a warning for each column with levels that the recipe does not know, once.
func unknownLevels(s *Encoder) (warnings []string) {
	for k := range s.columns {
		c := &s.columns[k]
		if c.unseen == 0 {
			continue
		}
		var names []string
		place := math.MaxInt
		for m, at := range s.first {
			if int(s.marks[m].column) == k {
				names, place = append(names, s.marks[m].level), min(place, at)
			}
		}
		dataset.SortClasses(names)
		warnings = append(warnings,
			fmt.Sprintf("%s: %s has levels that the training data did not have, %s, the first in %s %d; "+
				"they count as none of its levels in %d examples ("+option.Named("unseen",
				"error")+" refuses them)",
				s.path, c.Text, quote.List(names), s.places, place, c.strange))
		c.unseen, c.strange = 0, 0
	}
	clear(s.first)
	return warnings
}
