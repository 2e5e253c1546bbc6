package labels

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/file"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// Options say how to read annotations.
type Options struct {
	Classes []string // in their order; nil for the labels of the table, sorted
	Right   []string // annotators whose labels are right (dataset.Annotations.Right); nil for none
	// Functions says that the annotators are labelling functions, which give an example one vote or
	// abstain.
	Functions bool
}

// abstentions are the votes that are none, unless they are Options.Classes. -1 is one too, except
// of annotators who would have one class without it.
var abstentions = []string{"abstain", "", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None",
	"<NA>", "NaT"}

// minusOne is the vote that may be none.
const minusOne = "-1"

// Annotations reads labels of the examples of d, or of the examples that the table names if d is
// nil. The table (see file.Rows) has one of two forms. The long form has a
// row for each label: a column that names the example, worker (or annotator), and label; other
// columns are ignored. The wide form has a row for each example and a column for each annotator,
// empty without a label; without a column that names the example, rows are the examples in order.
// docs/data.md describes how a header names examples. Votes of functions may also be a .npy with a
// row for each example and a column for each function.
//
// Repeated labels of annotators all count. With data, an example may have no label. Errors begin
// with the path, and the line if one is wrong.
func Annotations(ctx context.Context, path string, d *dataset.Dataset, o Options,
) (*dataset.Annotations, error) {
	rows, err := file.OpenRows(ctx, path)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	c := &collected{path: path, o: o, annotators: newNames(nil), classes: newNames(o.Classes)}
	var array *dataset.Dataset
	if o.Functions {
		array, err = rows.Array()
	}
	if array != nil {
		defer array.Close() // only read
		err = c.readArray(array, d)
	} else if err == nil {
		err = c.readTable(rows, d)
	}
	if err != nil {
		return nil, err
	}
	return c.annotations()
}

// annotation is a label of a table.
type annotation struct {
	item      int
	by, label int32
	line      int
}

// collected are the labels of a table, of n examples.
type collected struct {
	path       string
	o          Options
	annotators *names
	classes    *names
	list       []annotation
	n          int
	items      []string // names of the examples; nil with data
}

// put takes a label.
func (c *collected) put(item int, by int32, label string, line int) error {
	name := whole(strings.TrimSpace(label))
	if _, class := c.classes.index[name]; !class && slices.Contains(abstentions, name) ||
		!class && strings.EqualFold(name, abstentions[0]) ||
		c.o.Functions && name == minusOne {
		return nil
	}
	if name == minusOne {
		label = name // of -1.0
	}
	k, err := c.classes.find(label)
	if err != nil {
		return err
	}
	c.list = append(c.list, annotation{item, by, k, line})
	if len(c.list)%(1<<16) == 1 {
		return memory.Check(memory.Product(len(c.list), 64), "a table of annotations")
	}
	return nil
}

// readTable takes the labels of a CSV.
func (c *collected) readTable(from *file.Rows, d *dataset.Dataset) error {
	t, err := tableOf(from, "row,worker,label")
	if err != nil {
		return err
	}
	keys := findKeys(t.header, d)
	worker, label, err := longColumns(t.header, keys)
	if err != nil {
		return t.at(err)
	}
	var by []int32 // the annotator of each column of the wide form; -1 for none
	if worker < 0 {
		if by, err = c.wideColumns(t.header, keys); err != nil {
			return t.at(err)
		}
	}
	rows := 0
	var examples []int // of the rows of the data
	if d != nil {
		examples = dataset.ExamplesByRow(d)
	}
	err = t.each(func(row []string) (err error) {
		item := rows
		switch rows++; {
		case keys != nil:
			item, err = keys.find(row)
		case d != nil && rows > len(examples):
			err = fmt.Errorf("found more than %d lines, wanted one for each row of the data, or a column "+
				"that names the example (row, index, id)", len(examples))
		case d != nil:
			item = examples[item]
		}
		if err != nil || item < 0 {
			return err
		}
		if worker >= 0 {
			if strings.TrimSpace(row[worker]) == "" {
				return errors.New("found no name of a worker")
			}
			who, err := c.annotators.find(row[worker])
			if err != nil {
				return err
			}
			return c.put(item, who, row[label], t.Line())
		}
		for at, who := range by {
			if who >= 0 {
				if err := c.put(item, who, row[at], t.Line()); err != nil {
					return err
				}
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case d == nil && keys != nil:
		var place []int32
		c.items, place = keys.names.sorted(dataset.SortClasses)
		for k := range c.list {
			c.list[k].item = int(place[c.list[k].item])
		}
		c.n = len(c.items)
	case d == nil:
		c.n = rows
	case keys == nil && rows < len(examples):
		return fmt.Errorf("%s: found %d lines, wanted one for each of the %d rows of the data, or a "+
			"column that names the example (row, index, id)", c.path, rows, len(examples))
	default:
		c.n = d.N
	}
	return nil
}

// longColumns returns the columns of the long form, -1 for the wide one.
func longColumns(header []string, keys *keys) (worker, label int, err error) {
	worker, label = -1, -1
	for at, field := range header {
		column, name := &label, "label"
		switch word(field) {
		case "worker", "annotator":
			column, name = &worker, "worker"
		case "label":
		default:
			continue
		}
		if *column >= 0 {
			return 0, 0, fmt.Errorf("the header has two columns %q, wanted one", name)
		}
		*column = at
	}
	if (worker >= 0 || label >= 0) && (keys == nil || worker < 0 || label < 0) {
		return 0, 0, fmt.Errorf("the header is %.80q, wanted columns row (or example, index, id, item), "+
			"worker and label, or a column for each annotator", strings.Join(header, ","))
	}
	return worker, label, nil
}

// wideColumns returns the annotator of each column, -1 for the one that names examples.
func (c *collected) wideColumns(header []string, keys *keys) ([]int32, error) {
	by := make([]int32, len(header))
	for at, field := range header {
		if by[at] = -1; keys != nil && at == keys.column {
			continue
		}
		who, err := c.annotators.find(field)
		if err != nil {
			return nil, errors.New("the header has a column without a name, wanted an annotator's name")
		}
		if slices.Contains(by[:at], who) {
			return nil, fmt.Errorf("the header has annotator %.60q twice, wanted once", field)
		}
		by[at] = who
	}
	return by, nil
}

// readArray takes votes from an array of whole numbers. The functions are called by their numbers
// from 1, whose bytewise order is the numeric one.
func (c *collected) readArray(votes, d *dataset.Dataset) error {
	examples := lists.UpTo[int](votes.N)
	if c.n = votes.N; d != nil {
		examples, c.n = dataset.ExamplesByRow(d), d.N
	}
	if votes.N != len(examples) {
		return fmt.Errorf("%s: votes: got %d rows, want one for each of the %d rows of the data", c.path,
			votes.N, len(examples))
	}
	digits := len(strconv.Itoa(votes.D))
	for j := range votes.D {
		c.annotators.find(fmt.Sprintf("%0*d", digits, j+1)) // no name is empty
	}
	for row, i := range examples {
		for j, v := range votes.Row(row) {
			const most = 1 << 20
			var err error
			if v < -1 || v >= most || v != float32(int(v)) {
				err = fmt.Errorf("got vote %v, want -1 (to abstain) or the number of a class", v)
			} else if i >= 0 {
				err = c.put(i, int32(j), strconv.Itoa(int(v)), row+1)
			}
			if err != nil {
				return fmt.Errorf("%s: votes: row %d: %w", c.path, row+1, err)
			}
		}
	}
	return nil
}

// dropMinusOne takes -1 as no vote, if there are two classes without it that no data name.
func (c *collected) dropMinusOne() {
	minus, is := c.classes.index[minusOne]
	if !is || c.classes.fixed || len(c.classes.list) < 3 {
		return
	}
	c.list = slices.DeleteFunc(c.list, func(a annotation) bool { return a.label == minus })
	c.classes = newNames(slices.Delete(c.classes.list, int(minus), int(minus)+1))
	c.classes.fixed = false
	for k := range c.list {
		if c.list[k].label > minus {
			c.list[k].label--
		}
	}
}

// annotations sorts the labels by example and annotator.
func (c *collected) annotations() (*dataset.Annotations, error) {
	c.dropMinusOne()
	if c.list == nil {
		return nil, fmt.Errorf("%s: found a header and no label, wanted labels", c.path)
	}
	a := &dataset.Annotations{Functions: c.o.Functions, Items: c.items,
		Start: make([]int, 1, len(c.list)+1)}
	var byPlace, labelPlace []int32
	a.Names, byPlace = c.annotators.sorted(slices.Sort[[]string])
	a.Classes, labelPlace = c.classes.sortClasses()
	if err := confusion.CheckClasses(a.Classes); err != nil {
		return nil, fmt.Errorf("%s: labels of a %w", c.path, err)
	}
	for _, name := range a.Classes {
		if _, both := c.classes.index[whole(name)]; both && whole(name) != name && !c.classes.fixed {
			return nil, fmt.Errorf("%s: found the labels %q and %q, wanted one spelling of a number; "+
				"pandas writes a column with gaps so, unless it has the type Int64", c.path, whole(name), name)
		}
	}
	for k, l := range c.list {
		c.list[k].by, c.list[k].label = byPlace[l.by], labelPlace[l.label]
	}
	if c.o.Right != nil {
		a.Right = make([]bool, len(a.Names))
	}
	for _, name := range c.o.Right {
		k, found := slices.BinarySearch(a.Names, name)
		if !found {
			return nil, fmt.Errorf("%s: found no worker %.60q, whose labels are said to be right, wanted "+
				"one of %s", c.path, name, quote.List(a.Names))
		}
		a.Right[k] = true
	}
	slices.SortFunc(c.list, func(x, y annotation) int {
		return cmp.Or(cmp.Compare(x.item, y.item), cmp.Compare(x.by, y.by), cmp.Compare(x.line, y.line))
	})
	right := annotation{item: -1} // the last right label
	for k, l := range c.list {
		for len(a.Start) <= l.item {
			a.Start = append(a.Start, k)
		}
		if p := c.list[max(k-1, 0)]; a.Functions && k > 0 && p.item == l.item && p.by == l.by {
			return nil, fmt.Errorf("%s:%d: function %.60q votes twice on an example, also in line %d, "+
				"want one vote", c.path, l.line, a.Names[l.by], p.line)
		}
		if a.Right != nil && a.Right[l.by] {
			if right.item == l.item && right.label != l.label {
				return nil, fmt.Errorf("%s:%d: an example has label %.60q of worker %.60q, and %.60q of "+
					"%.60q in line %d; wanted one, as the labels of both are said to be right", c.path, l.line,
					a.Classes[l.label], a.Names[l.by], a.Classes[right.label], a.Names[right.by], right.line)
			}
			right = l
		}
		a.By, a.Label = append(a.By, l.by), append(a.Label, l.label)
	}
	for len(a.Start) <= c.n {
		a.Start = append(a.Start, len(c.list))
	}
	return a, nil
}
