package crowd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/confusion/internal/labelfile"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// The names that a column of a table of annotations may have.
var annotationColumns = [3][]string{{"item", "task"}, {"worker", "annotator"}, {"label"}}

// AnnotationOptions say what a table of annotations is to be read for.
type AnnotationOptions struct {
	// examples that the data have; 0 without data: as many as the table's largest number tells
	Items int
	// Classes are those of the data in the order of their indices, which is copied; if nil,
	// the classes are the labels of the table, in the order in which they come.
	Classes []string
	// Right are the names of those whose labels are right (Annotations.Right); nil for none.
	Right []string
}

// ReadAnnotations reads a table with a label to each line, a CSV with the header item,worker,label,
// plain or compressed by gzip. The columns may come in any order, task is another word for item and
// annotator for worker, and other columns do not count. An item is the number of an example, 0 for
// the first. Each example needs a label: leave those out of the data that nobody labelled.
//
// Errors begin with the path, and where a line is wrong with its number. Reading tells its
// progress through ctx, and ends with it.
func ReadAnnotations(ctx context.Context, path string, o AnnotationOptions) (*Annotations, error) {
	t := annotationTable{path: path, o: o, bounded: o.Items > 0,
		annotators: labelfile.NewNames(nil), classes: labelfile.NewNames(o.Classes)}
	err := labelfile.Each(ctx, path, "the annotations", "item,worker,label", t.place, t.add)
	if err != nil {
		return nil, err
	}
	return t.finish()
}

// annotationTable is a table that is being read.
type annotationTable struct {
	path       string
	o          AnnotationOptions
	column     [3]int // where item, worker and label stand
	annotators *labelfile.Names
	classes    *labelfile.Names
	lines      []annotation
	bounded    bool // there are data, whose examples Items counts
}

// annotation is a line of the table.
type annotation struct {
	item      int
	by, label int32
	line      int
}

// place finds the columns by the header.
func (t *annotationTable) place(header []string) error {
	for k, names := range annotationColumns {
		t.column[k] = -1
		for at, field := range header {
			field = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(field, "\ufeff")))
			if !slices.Contains(names, field) {
				continue
			}
			if t.column[k] >= 0 {
				return fmt.Errorf("the header has two columns %q, wanted one", names[0])
			}
			t.column[k] = at
		}
		if t.column[k] < 0 {
			return fmt.Errorf("the header is %.80q, wanted columns item, worker and label",
				strings.Join(header, ","))
		}
	}
	return nil
}

// add takes a line.
func (t *annotationTable) add(row []string, line int) error {
	most := -1
	if t.bounded {
		most = t.o.Items
	}
	i, err := labelfile.Item(row[t.column[0]], most)
	if err != nil {
		return err
	}
	t.o.Items = max(t.o.Items, i+1)
	if strings.TrimSpace(row[t.column[1]]) == "" {
		return errors.New("found no name of a worker")
	}
	w, err := t.annotators.Index(row[t.column[1]])
	if err != nil {
		return err
	}
	k, err := t.classes.Index(row[t.column[2]])
	if err != nil {
		return err
	}
	t.lines = append(t.lines, annotation{i, w, k, line})
	if len(t.lines)%(1<<16) == 1 {
		return memory.Check(memory.Product(len(t.lines), 64), "a table of annotations")
	}
	return nil
}

// finish sorts what was read and finds labels that are missing or there twice.
func (t *annotationTable) finish() (*Annotations, error) {
	a := &Annotations{Classes: t.classes.List, Names: slices.Sorted(slices.Values(t.annotators.List)),
		Start: make([]int, 1, len(t.lines)+1)}
	if err := confusion.CheckClasses(a.Classes); err != nil {
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
	for i := range t.o.Items {
		first, right := at, -1 // the line of a right label
		for ; at < len(t.lines) && t.lines[at].item == i; at++ {
			l := t.lines[at]
			if at > first && l.by == t.lines[at-1].by {
				return nil, fmt.Errorf("%s:%d: item %d has a label of worker %.60q here and in line %d, "+
					"wanted one", t.path, l.line, i, a.Names[l.by], t.lines[at-1].line)
			}
			if a.Right != nil && a.Right[l.by] {
				if right >= 0 && t.lines[right].label != l.label {
					return nil, fmt.Errorf("%s:%d: item %d has label %.60q of worker %.60q, and %.60q of %.60q "+
						"in line %d; wanted one, as the labels of both are said to be right", t.path, l.line, i,
						a.Classes[l.label], a.Names[l.by],
						a.Classes[t.lines[right].label], a.Names[t.lines[right].by], t.lines[right].line)
				}
				right = at
			}
			a.By, a.Label = append(a.By, l.by), append(a.Label, l.label)
		}
		if at == first {
			return nil, fmt.Errorf("%s: item %d has no label, wanted at least one for each of the %d "+
				"examples of the data; leave the example out of the data, or label it", t.path, i, t.o.Items)
		}
		a.Start = append(a.Start, at)
	}
	return a, nil
}
