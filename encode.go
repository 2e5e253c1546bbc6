package umagpu

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// examples returns raw examples of data that a model is to be learned from.
func (d *Data) examples(ctx context.Context) (*dataset.Dataset, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	if d.set != nil {
		return d.copied(), nil
	}
	set := d.empty()
	if d.Table != nil {
		return set, d.Table.learn(ctx, set)
	}
	return set, d.Matrix.learn(ctx, set)
}

// copied returns a copy of the data of FromDataset, whose labels may change. Their reader has told
// their notes.
func (d *Data) copied() *dataset.Dataset {
	some := *d.set
	some.Notes, some.Warnings = nil, nil
	return &some
}

// empty returns a data set that is to be filled.
func (d *Data) empty() *dataset.Dataset {
	return &dataset.Dataset{Found: dataset.Found{Path: cmp.Or(d.Name, "data")}}
}

// examplesFor returns raw examples of the features of m. Columns are found by name where both have
// names; those that m does not know are left out, with a note.
func (d *Data) examplesFor(ctx context.Context, m *model.Model) (*dataset.Dataset, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	f := m.Meta.Features
	known := f.Encoding
	if d.set != nil {
		if set := d.set; set.Prepared == nil && !slices.Equal(set.Encoding.Origins(), known.Origins()) {
			return nil, unfit("numbers behind other origins than in the training data",
				"data that were read for the model")
		}
		return d.copied(), nil
	}
	if known == nil {
		known = &dataset.Encoding{Missing: dataset.MissingError,
			Columns: slices.Repeat([]dataset.Column{{Kind: dataset.KindNumber}}, f.Count)}
		for j, name := range f.Names {
			known.Columns[j].Name = name
		}
	}
	set := d.empty()
	if d.Table != nil {
		return set, d.Table.encode(ctx, set, known)
	}
	return set, d.Matrix.encode(ctx, set, known, f.Count)
}

func unfit(got, want string) *Fault {
	return &Fault{Kind: Unfit, Option: "data", Got: got, Want: want}
}

// order returns which of the names have are those of the columns that known wants, by position
// where one of both has no names; -1 for a column that was set aside. Notes in set tell of others.
func order(set *dataset.Dataset, have []string, width int, known *dataset.Encoding) ([]int, error) {
	wanted := known.ColumnNames()
	if wanted == nil || have == nil {
		if width != len(known.Columns) {
			return nil, unfit(fmt.Sprintf("%d columns", width), fmt.Sprintf("%d, as in the training data",
				len(known.Columns)))
		}
		if wanted != nil || have != nil {
			set.Notes = append(set.Notes, "columns are matched by position, as the data or the model have "+
				"no names")
		}
		return lists.UpTo[int](width), nil
	}
	place := make(map[string]int, len(have))
	for j, name := range have {
		place[name] = j
	}
	var at []int
	for _, c := range known.Columns {
		j, found := place[c.Name]
		switch {
		case found:
			delete(place, c.Name)
		case c.Kind == dataset.KindAside:
			j = -1
		default:
			return nil, unfit("the columns "+quote.List(have), "also "+strconv.Quote(c.Name)+
				", which the model was trained on")
		}
		at = append(at, j)
	}
	more := lists.Keep(have, func(name string) bool { _, left := place[name]; return left })
	if more != nil {
		set.Notes = append(set.Notes, "ignored are columns that the model does not know: "+
			quote.List(more))
	}
	return at, nil
}

// narrowed fills x with values, and reports whether they are there and engines compute with them.
func narrowed[T uint8 | float32 | float64](x []float32, values []T) bool {
	var bad atomic.Bool
	parallel.Ranges(len(values), 1<<16, func(from, to int) {
		x, some := x[from:to], false
		for i, v := range values[from:to] {
			x[i] = float32(v)
			some = some || odd(x[i])
		}
		if some {
			bad.Store(true)
		}
	})
	return values != nil && !bad.Load()
}
