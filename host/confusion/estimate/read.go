package estimate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/confusion/internal/labelfile"
	"github.com/uma-gpu/uma-gpu/internal/option"
)

// Clean are examples with a known true class.
type Clean struct {
	Classes []string
	Noisy   []int32
	Right   []int32
	Item    []int // the index of each example in the data; nil of a table of pairs
}

// CleanOptions say what a table of true classes is to be read for.
type CleanOptions struct {
	// Classes are the data's in the order of their indices; nil without data: then they
	// are the names of the table, in the order in which they come.
	Classes []string
	Y       []int32 // the noisy labels of the data; nil without data
	// IDs are the data's, from the column IDColumn, and Source the rows of their examples; see
	// dataset.Dataset. Either may be nil.
	IDs      []string
	IDColumn string
	Source   []int
}

func (o *CleanOptions) keys(header []string) *labelfile.Keys {
	return labelfile.FindKeys(header, labelfile.Data{N: len(o.Y), IDs: o.IDs, IDColumn: o.IDColumn,
		Source: o.Source})
}

// ReadClean reads a CSV with an example to each line, plain or compressed by gzip. Of examples of
// the data it has the name, in a column whose header says how (row, example, index, id, item; see
// docs/data.md), and the true class in the column label (or class, true, clean, right ...). Without
// such a column it has pairs: a column of noisy labels (noisy, given, observed, predicted ...) and
// one of true classes. Noisy labels of named examples must agree with the data, and lines without
// a true class are passed over, so that a list of label issues is such a table, once checked.
//
// Errors begin with the path, and where a line is wrong with its number. Reading tells its
// progress through ctx, and ends with it.
func ReadClean(ctx context.Context, path string, o CleanOptions) (*Clean, error) {
	text, done, err := labelfile.Open(ctx, path, "the true classes")
	if err != nil {
		return nil, err
	}
	defer done()
	t := cleanTable{o: o, names: labelfile.NewNames(o.Classes), seen: map[int]int{}}
	err = labelfile.Each(path, "the true classes", "row,label or noisy,true", text, t.place, t.add)
	if err != nil {
		return nil, err
	}
	if len(t.Right) == 0 {
		return nil, fmt.Errorf("%s: found a header and no line, wanted a true class in each", path)
	}
	t.Classes = t.names.List
	if err := labelfile.CheckClasses(t.Classes); err != nil {
		return nil, fmt.Errorf("%s: labels of a %w", path, err)
	}
	return &t.Clean, nil
}

// cleanTable is a table that is being read.
type cleanTable struct {
	Clean
	o     CleanOptions
	names *labelfile.Names
	keys  *labelfile.Keys // nil for pairs
	seen  map[int]int     // the line of each example
	noisy int             // the column of noisy labels; -1 for none
	right int             // the column of true classes
}

// place finds the columns by the header.
func (t *cleanTable) place(header []string) error {
	if t.o.Y != nil {
		t.keys = t.o.keys(header)
	}
	t.noisy, t.right = -1, -1
	label := -1
	for k, field := range header {
		name := labelfile.Word(field)
		isTrue, isNoisy := labelfile.Axis(name)
		switch {
		case t.keys != nil && (k == t.keys.Column || name == "worker" &&
			slices.Contains(header, "label")):
		case isTrue:
			if t.right >= 0 {
				return fmt.Errorf("the header has two columns of true classes, %q and %q", header[t.right],
					field)
			}
			t.right = k
		case isNoisy:
			if t.noisy < 0 {
				t.noisy = k
			}
		case name == "label" || name == "class" || name == "y":
			label = k
		}
	}
	if t.keys != nil && label < 0 && len(header) == 2 { // beside the key there is but one
		label = 1 - t.keys.Column
	}
	switch {
	case t.keys != nil && t.right < 0:
		t.right = label
	case t.keys == nil && t.noisy < 0:
		t.noisy = label
	}
	if t.right < 0 || t.keys == nil && t.noisy < 0 {
		what := "columns of noisy and true classes, such as noisy,true"
		if t.o.Y != nil {
			what = "columns row (or index, id; or the data's own column, as " +
				option.Named("id-column", "NAME") + " says) and label, or " + what
		}
		return fmt.Errorf("the header is %.80q, wanted %s", strings.Join(header, ","), what)
	}
	return nil
}

func (t *cleanTable) add(row []string, line int) error {
	if t.keys != nil && strings.TrimSpace(row[t.right]) == "" {
		return nil // not checked
	}
	hasNoisy := t.noisy >= 0 && (t.keys == nil || strings.TrimSpace(row[t.noisy]) != "")
	noisy := int32(0)
	var err error
	if hasNoisy {
		if noisy, err = t.names.Index(row[t.noisy]); err != nil {
			return err
		}
	}
	if t.keys != nil {
		name := row[t.keys.Column]
		i, err := t.keys.Find(name)
		if err != nil {
			return err
		}
		if before, ok := t.seen[i]; ok {
			return fmt.Errorf("%s %.40q is here and in line %d, wanted once", t.keys.Name, name, before)
		}
		given := t.o.Y[i]
		if hasNoisy && noisy != given {
			return fmt.Errorf("found the noisy label %.60q of an example that has %.60q in the data, "+
				"wanted the same: is this the table of these data?", t.o.Classes[noisy], t.label(given))
		}
		t.seen[i], t.Item, noisy = line, append(t.Item, i), given
	}
	k, err := t.names.Index(row[t.right])
	t.Noisy, t.Right = append(t.Noisy, noisy), append(t.Right, k)
	return err
}

// label returns the name of a label of the data, "" of an unlabelled example.
func (t *cleanTable) label(y int32) string {
	if y < 0 {
		return ""
	}
	return t.o.Classes[y]
}

// Arrange brings the classes into another order, of the same names.
func (c *Clean) Arrange(classes []string) error {
	if err := labelfile.Arrange(c.Classes, classes, c.Noisy, c.Right); err != nil {
		return fmt.Errorf("the table of true classes %w", err)
	}
	c.Classes = slices.Clone(classes)
	return nil
}
