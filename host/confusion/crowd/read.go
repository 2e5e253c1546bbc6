package crowd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/confusion/internal/labelfile"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// The names that a column of a table of annotations may have.
var (
	workerColumns = []string{"worker", "annotator"}
	labelColumns  = []string{"label"}
)

// AnnotationOptions say what a table of annotations is to be read for.
type AnnotationOptions struct {
	// examples that the data have; 0 without data: as many as the table names
	Items int
	// IDs are the ids of the data's examples, and IDColumn is the name of their column; nil for none.
	IDs      []string
	IDColumn string
	// Classes are those of the data in the order of their indices, which is copied; if nil,
	// the classes are the labels of the table, in the order in which they come.
	Classes []string
	// Right are the names of those whose labels are right (Annotations.Right); nil for none.
	Right []string
}

// Table is what a file has of annotations.
type Table struct {
	*Annotations
	Items    []string // what the table calls each example; nil with data
	Rows     []int    // the example of the data of each one with a label; nil if all have one
	Repeated int      // labels beyond an annotator's first of an example
}

// ReadAnnotations reads labels of several annotators, a CSV plain or compressed by gzip, in one of
// two forms. The long one has a label to each line, and columns example, worker and label in any
// order. Annotator is another word for worker, and other columns do not count. The wide one has a
// line to each example and a column to each annotator; an empty field is no label. Without
// a column of examples its lines are the examples of the data in their order.
//
// The column id, or that of the data's ids, has the ids of examples. Without ids the column example
// (or row, item, task, id) has the numbers of their rows, 1 for the first. Without data any text is
// the name of an example. An example without a label is left out.
//
// Errors begin with the path, and where a line is wrong with its number. Reading tells its
// progress through ctx, and ends with it.
func ReadAnnotations(ctx context.Context, path string, o AnnotationOptions) (*Table, error) {
	t := tableReader{path: path, o: o, annotators: labelfile.NewNames(nil),
		classes: labelfile.NewNames(o.Classes), named: labelfile.NewNames(nil),
		items: labelfile.Items{N: o.Items, IDs: o.IDs, Column: o.IDColumn}}
	err := labelfile.Each(ctx, path, "the annotations", "example,worker,label", t.place, t.add)
	if err != nil {
		return nil, err
	}
	return t.finish()
}

// tableReader is a table that is being read.
type tableReader struct {
	path                string
	o                   AnnotationOptions
	item, worker, label int     // where they stand; item is -1 if lines are the examples in order
	wide                []int32 // the annotator of each column of a wide table, -1 for none; else nil
	rows                int
	items               labelfile.Items
	named               *labelfile.Names // the items, without data
	annotators          *labelfile.Names
	classes             *labelfile.Names
	lines               []annotation
}

// annotation is a label of the table.
type annotation struct {
	item      int
	by, label int32
	line      int
}

// column returns the place of the column with one of the names, -1 for none.
func column(header []string, names []string) (int, error) {
	at := -1
	for k, field := range header {
		if !slices.Contains(names, labelfile.ColumnName(field)) {
			continue
		}
		if at >= 0 {
			return 0, fmt.Errorf("the header has two columns %q, wanted one", names[0])
		}
		at = k
	}
	return at, nil
}

// place finds the columns by the header.
func (t *tableReader) place(header []string) error {
	t.item = t.items.Place(header)
	var err1, err2 error
	t.worker, err1 = column(header, workerColumns)
	t.label, err2 = column(header, labelColumns)
	if err := cmp.Or(err1, err2); err != nil {
		return err
	}
	switch {
	case t.worker >= 0 && t.label >= 0 && t.item >= 0:
		return nil
	case t.worker >= 0 || t.label >= 0 || len(header) < 2:
		return fmt.Errorf("the header is %.80q, wanted columns example, worker and label, or a column "+
			"for each annotator", strings.Join(header, ","))
	}
	for k, field := range header {
		by := int32(-1)
		if name := labelfile.ColumnName(field); k != t.item && name != "" && name != "index" {
			var err error
			if by, err = t.annotators.Index(strings.TrimPrefix(field, "\ufeff")); err != nil {
				return err
			}
			if slices.Contains(t.wide, by) {
				return fmt.Errorf("the header has two columns %.60q, wanted one for each annotator", field)
			}
		}
		t.wide = append(t.wide, by)
	}
	return nil
}

// find returns the example of a line.
func (t *tableReader) find(row []string) (int, error) {
	switch {
	case t.item < 0 && t.o.Items > 0 && t.rows > t.o.Items:
		return 0, fmt.Errorf("found row %d of labels, wanted as many as the %d examples of the data, or "+
			"a column example", t.rows, t.o.Items)
	case t.item < 0 && t.o.Items > 0:
		return t.rows - 1, nil
	case t.item >= 0 && t.o.Items > 0:
		return t.items.Find(row[t.item])
	}
	name := fmt.Sprint(t.rows)
	if t.item >= 0 {
		name = row[t.item]
	}
	i, err := t.named.Index(name)
	if err != nil {
		return 0, errors.New("found no name of an example")
	}
	return int(i), nil
}

// add takes a line.
func (t *tableReader) add(row []string, line int) error {
	t.rows++
	i, err := t.find(row)
	if err != nil {
		return err
	}
	if t.wide == nil {
		if strings.TrimSpace(row[t.worker]) == "" {
			return errors.New("found no name of a worker")
		}
		w, err := t.annotators.Index(row[t.worker])
		if err != nil {
			return err
		}
		return t.take(annotation{item: i, by: w, line: line}, row[t.label])
	}
	for k, by := range t.wide {
		if by < 0 || strings.TrimSpace(row[k]) == "" {
			continue
		}
		if err := t.take(annotation{item: i, by: by, line: line}, row[k]); err != nil {
			return err
		}
	}
	return nil
}

// take keeps a label.
func (t *tableReader) take(a annotation, label string) (err error) {
	if a.label, err = t.classes.Index(label); err != nil {
		return err
	}
	t.lines = append(t.lines, a)
	if len(t.lines)%(1<<16) == 1 {
		return memory.Check(memory.Product(len(t.lines), 64), "a table of annotations")
	}
	return nil
}

// finish sorts what was read.
func (t *tableReader) finish() (*Table, error) {
	a := &Annotations{Classes: t.classes.List, Names: slices.Sorted(slices.Values(t.annotators.List)),
		Start: make([]int, 1, len(t.lines)+1)}
	if t.item < 0 && t.rows < t.o.Items {
		return nil, fmt.Errorf("%s: found %d rows of labels, wanted as many as the %d examples of the "+
			"data, or a column example", t.path, t.rows, t.o.Items)
	}
	if err := labelfile.CheckClasses(a.Classes); err != nil {
		return nil, fmt.Errorf("%s: labels of a %w", t.path, err)
	}
	order := make([]int32, len(a.Names))
	for k, name := range t.annotators.List {
		to, _ := slices.BinarySearch(a.Names, name)
		order[k] = int32(to)
	}
	for k := range t.lines {
		t.lines[k].by = order[t.lines[k].by]
	}
	if err := t.trust(a); err != nil {
		return nil, err
	}
	t.numbered()
	slices.SortFunc(t.lines, func(x, y annotation) int {
		return cmp.Or(cmp.Compare(x.item, y.item), cmp.Compare(x.by, y.by), cmp.Compare(x.line, y.line))
	})
	found := &Table{Annotations: a}
	right := -1 // the line of a right label of the same example
	for k, l := range t.lines {
		switch {
		case k == 0 || l.item != t.lines[k-1].item:
			if k > 0 {
				a.Start = append(a.Start, k)
			}
			found.Rows, right = append(found.Rows, l.item), -1
		case l.by == t.lines[k-1].by:
			found.Repeated++
		}
		if a.Right != nil && a.Right[l.by] {
			if right >= 0 && t.lines[right].label != l.label {
				r := t.lines[right]
				return nil, fmt.Errorf("%s:%d: item %s has label %.60q of worker %.60q, and %.60q of %.60q "+
					"in line %d; wanted one, as the labels of both are said to be right", t.path, l.line,
					t.name(l.item), a.Classes[l.label], a.Names[l.by], a.Classes[r.label], a.Names[r.by], r.line)
			}
			right = k
		}
		a.By, a.Label = append(a.By, l.by), append(a.Label, l.label)
	}
	a.Start = append(a.Start, len(t.lines))
	if t.o.Items == 0 {
		for _, i := range found.Rows {
			found.Items = append(found.Items, t.named.List[i])
		}
	}
	if found.Items != nil || len(found.Rows) == t.o.Items {
		found.Rows = nil
	}
	return found, nil
}

// numbered brings items that are all numbers into their order.
func (t *tableReader) numbered() {
	type item struct{ number, at int }
	items := make([]item, len(t.named.List))
	for k, name := range t.named.List {
		n, err := strconv.Atoi(name)
		if err != nil {
			return
		}
		items[k] = item{n, k}
	}
	slices.SortStableFunc(items, func(x, y item) int { return cmp.Compare(x.number, y.number) })
	to, names := make([]int, len(items)), make([]string, len(items))
	for k, i := range items {
		to[i.at], names[k] = k, t.named.List[i.at]
	}
	t.named.List = names
	for k := range t.lines {
		if t.o.Items == 0 {
			t.lines[k].item = to[t.lines[k].item]
		}
	}
}

// name returns what a message calls an example.
func (t *tableReader) name(i int) string {
	if t.o.Items == 0 {
		return fmt.Sprintf("%.60q", t.named.List[i])
	}
	return t.items.Name(i)
}

// trust sets whose labels are right.
func (t *tableReader) trust(a *Annotations) error {
	if t.o.Right != nil {
		a.Right = make([]bool, len(a.Names))
	}
	for _, name := range t.o.Right {
		k, found := slices.BinarySearch(a.Names, name)
		if !found {
			return fmt.Errorf("%s: found no worker %.60q, whose labels are said to be right, wanted "+
				"one of %s", t.path, name, labelfile.Quoted(a.Names))
		}
		a.Right[k] = true
	}
	return nil
}
