package crowd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/confusion/internal/labelfile"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// Arrange brings the classes of a into another order, of the same names.
func Arrange(a *dataset.Annotations, classes []string) error {
	err := labelfile.Arrange(a.Classes, classes, a.Label)
	if err == nil && len(classes) != len(a.Classes) {
		err = fmt.Errorf("has %d classes, wanted %d", len(a.Classes), len(classes))
	}
	if err != nil {
		return fmt.Errorf("the table of annotations %w", err)
	}
	a.Classes = slices.Clone(classes)
	return nil
}

// AnnotationOptions describe the data of a table of annotations.
type AnnotationOptions struct {
	// Items is how many examples the data have; 0 without data. IDs are theirs, from the column
	// IDColumn, and Source their rows; see dataset.Dataset. Either may be nil.
	Items    int
	IDs      []string
	IDColumn string
	Source   []int
	// Classes are the data's in the order of their indices, copied; if nil,
	// the classes are the labels of the table, in the order in which they come.
	Classes []string
	// Right names the annotators whose labels are right (Annotations.Right); nil for none.
	Right []string
}

// ReadAnnotations reads a CSV table of annotations, plain or compressed by gzip, in one of two
// forms. The long form has a line for each label: a column that names the example, worker (or
// annotator), and label; other columns are ignored. The wide form has a line for each example and a
// column for each annotator, empty without a label; without a column that names the example, lines
// are the examples in order. docs/data.md describes how a header names examples.
//
// Repeated labels all count. With data, an example may have no label (Labelled). Errors begin with
// the path, and the line if one is wrong. Reading reports progress through ctx and ends with it.
func ReadAnnotations(ctx context.Context, path string, o AnnotationOptions,
) (*dataset.Annotations, error) {
	text, done, err := labelfile.Open(ctx, path, "the annotations")
	if err != nil {
		return nil, err
	}
	defer done()
	return newTable(path, o).readCSV(text)
}

func newTable(path string, o AnnotationOptions) *annotationTable {
	return &annotationTable{path: path, o: o, worker: -1, label: -1, data: labelfile.Data{N: o.Items,
		IDs: o.IDs, IDColumn: o.IDColumn, Source: o.Source}, annotators: labelfile.NewNames(nil),
		classes: labelfile.NewNames(o.Classes)}
}

func (t *annotationTable) readCSV(text io.Reader) (*dataset.Annotations, error) {
	err := labelfile.Each(t.path, "the annotations", "row,worker,label", text, t.place, t.add)
	if err != nil {
		return nil, err
	}
	return t.finish()
}

// annotationTable is the state of reading a table.
type annotationTable struct {
	path       string
	o          AnnotationOptions
	data       labelfile.Data
	keys       *labelfile.Keys // nil if lines are examples in order
	worker     int             // columns of the long form; -1 in the wide one
	label      int
	wide       []int32 // the annotator of each column of the wide form; -1 for none
	annotators *labelfile.Names
	classes    *labelfile.Names
	rows       int
	functions  bool // no label means abstaining
	lines      []annotation
}

// annotation is a label of the table.
type annotation struct {
	item      int
	by, label int32
	line      int
}

// place finds the columns by the header.
func (t *annotationTable) place(header []string) (err error) {
	t.keys = labelfile.FindKeys(header, t.data)
	for at, field := range header {
		column, name := &t.label, "label"
		switch word := labelfile.Word(field); word {
		case "worker", "annotator":
			column, name = &t.worker, "worker"
		case "label":
		default:
			continue
		}
		if *column >= 0 {
			return fmt.Errorf("the header has two columns %q, wanted one", name)
		}
		*column = at
	}
	switch {
	case t.keys != nil && t.worker >= 0 && t.label >= 0:
		return nil
	case t.worker >= 0 || t.label >= 0:
		return fmt.Errorf("the header is %.80q, wanted columns row (or example, index, id, item), "+
			"worker and label, or a column for each annotator", strings.Join(header, ","))
	}
	for at, field := range header {
		by := int32(-1)
		if t.keys == nil || at != t.keys.Column {
			if by, err = t.annotators.Index(field); err != nil {
				return fmt.Errorf("the header has a column without a name, wanted an annotator's name")
			}
			if int(by) < len(t.wide)-1 && slices.Contains(t.wide, by) {
				return fmt.Errorf("the header has annotator %.60q twice, wanted once", field)
			}
		}
		t.wide = append(t.wide, by)
	}
	return nil
}

// add takes a line.
func (t *annotationTable) add(row []string, line int) (err error) {
	item := t.rows
	if t.rows++; t.keys != nil {
		if item, err = t.keys.Find(row[t.keys.Column]); err != nil {
			return err
		}
	} else if t.data.N > 0 && t.rows > t.data.N {
		return fmt.Errorf("found more than %d lines, wanted one for each example of the data, or a "+
			"column that names the example (row, index, id)", t.data.N)
	}
	if t.worker >= 0 {
		if strings.TrimSpace(row[t.worker]) == "" {
			return errors.New("found no name of a worker")
		}
		by, err := t.annotators.Index(row[t.worker])
		if err != nil {
			return err
		}
		return t.put(item, by, row[t.label], line)
	}
	for at, by := range t.wide {
		if by >= 0 && strings.TrimSpace(row[at]) != "" {
			if err := t.put(item, by, row[at], line); err != nil {
				return err
			}
		}
	}
	return nil
}

// put takes a label.
func (t *annotationTable) put(item int, by int32, label string, line int) error {
	if t.functions && abstains(label) {
		return nil
	}
	k, err := t.classes.Index(label)
	if err != nil {
		return err
	}
	t.lines = append(t.lines, annotation{item, by, k, line})
	if len(t.lines)%(1<<16) == 1 {
		return memory.Check(memory.Product(len(t.lines), 64), "a table of annotations")
	}
	return nil
}

// count returns how many examples there are. Without data it gives them their places.
func (t *annotationTable) count(a *dataset.Annotations) (int, error) {
	switch {
	case t.data.N == 0 && t.keys == nil:
		return t.rows, nil
	case t.data.N == 0:
		names, place := t.keys.Names()
		for k := range t.lines {
			t.lines[k].item = place[t.lines[k].item]
		}
		a.Items = names
		return len(names), nil
	case t.keys == nil && t.rows < t.data.N:
		return 0, fmt.Errorf("%s: found %d lines, wanted one for each of the %d examples of the data, "+
			"or a column that names the example (row, index, id)", t.path, t.rows, t.data.N)
	}
	return t.data.N, nil
}

// finish sorts the labels by example and annotator.
func (t *annotationTable) finish() (*dataset.Annotations, error) {
	a := &dataset.Annotations{Classes: t.classes.List,
		Names: slices.Sorted(slices.Values(t.annotators.List)),
		Start: make([]int, 1, len(t.lines)+1)}
	if t.lines == nil {
		return nil, fmt.Errorf("%s: found a header and no label, wanted labels", t.path)
	}
	if err := labelfile.CheckClasses(a.Classes); err != nil {
		return nil, fmt.Errorf("%s: labels of a %w", t.path, err)
	}
	n, err := t.count(a)
	if err != nil {
		return nil, err
	}
	a.Functions = t.functions
	order := make([]int32, len(a.Names))
	for k, name := range t.annotators.List {
		to, _ := slices.BinarySearch(a.Names, name)
		order[k] = int32(to)
	}
	for k := range t.lines {
		t.lines[k].by = order[t.lines[k].by]
	}
	if t.o.Right != nil {
		a.Right = make([]bool, len(a.Names))
	}
	for _, name := range t.o.Right {
		k, found := slices.BinarySearch(a.Names, name)
		if !found {
			return nil, fmt.Errorf("%s: found no worker %.60q, whose labels are said to be right, wanted "+
				"one of %s", t.path, name, labelfile.Quoted(a.Names))
		}
		a.Right[k] = true
	}
	slices.SortFunc(t.lines, func(x, y annotation) int {
		return cmp.Or(cmp.Compare(x.item, y.item), cmp.Compare(x.by, y.by), cmp.Compare(x.line, y.line))
	})
	at := 0
	for i := range n {
		right := -1 // the line of a right label
		for ; at < len(t.lines) && t.lines[at].item == i; at++ {
			l := t.lines[at]
			if t.functions && at > a.Start[i] && t.lines[at-1].by == l.by {
				return nil, fmt.Errorf("%s:%d: function %.60q votes twice on an example, also in line %d, "+
					"want one vote", t.path, l.line, a.Names[l.by], t.lines[at-1].line)
			}
			if a.Right != nil && a.Right[l.by] {
				if right >= 0 && t.lines[right].label != l.label {
					return nil, fmt.Errorf("%s:%d: an example has label %.60q of worker %.60q, and %.60q of "+
						"%.60q in line %d; wanted one, as the labels of both are said to be right", t.path,
						l.line, a.Classes[l.label], a.Names[l.by], a.Classes[t.lines[right].label],
						a.Names[t.lines[right].by], t.lines[right].line)
				}
				right = at
			}
			a.By, a.Label = append(a.By, l.by), append(a.Label, l.label)
		}
		a.Start = append(a.Start, at)
	}
	return a, nil
}
