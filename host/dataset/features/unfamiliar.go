package features

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// Missing says which columns of a table lack how many values.
func Missing(t *dataset.Table) (lacking []dataset.MissingCount) {
	for k := range t.Columns {
		if gaps := gapsOf(&t.Columns[k]); gaps > 0 {
			lacking = append(lacking, dataset.MissingCount{Column: t.Columns[k].String(), Values: gaps})
		}
	}
	return lacking
}

// gapsOf returns how many numbers or levels a column lacks.
func gapsOf(c *dataset.TableColumn) int {
	return lists.Count(c.Numbers, missing) + lists.Count(c.Codes,
		func(code int32) bool { return code < 0 })
}

// Unfamiliar says what a table has that the training data of e did not have: missing values, and
// levels. row is which row of the input, from 1, an example is; nil to name none.
func Unfamiliar(t *dataset.Table, e *dataset.Encoding, row func(example int) int,
) (notes, warnings []string) {
	for k := range e.Columns {
		c, known := &t.Columns[k], &e.Columns[k]
		if gaps := gapsOf(c); gaps > 0 && known.Mean != nil && !known.Indicator {
			notes = append(notes, fmt.Sprintf("%s has %d missing values, and had none in the training "+
				"data; their mean stands for them", c, gaps))
		}
		if known.Kind != dataset.KindCategory {
			continue
		}
		strange := make([]bool, len(c.Levels))
		familiar := lists.Set(known.Levels)
		for code, level := range c.Levels {
			strange[code] = !familiar[level]
		}
		is := func(i int) bool { return c.Codes[i] >= 0 && strange[c.Codes[i]] }
		examples := lists.Where(t.N, is)
		if len(examples) == 0 {
			continue
		}
		used := map[string]bool{}
		for _, i := range examples {
			used[c.Levels[c.Codes[i]]] = true
		}
		names := lists.Keep(c.Levels, func(level string) bool { return used[level] })
		dataset.SortClasses(names)
		where := ""
		if row != nil {
			where = fmt.Sprintf(", the first in row %d", row(examples[0]))
		}
		warnings = append(warnings, fmt.Sprintf("%s has levels that the training data did not have, "+
			"%s%s; they count as none of its levels in %d examples", c, quote.List(names), where,
			len(examples)))
	}
	return notes, warnings
}
