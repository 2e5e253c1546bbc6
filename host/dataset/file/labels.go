package file

import (
	"fmt"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/internal/names"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/quote"
	"github.com/uma-gpu/uma-gpu/internal/setting"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// labels collects a label per example, numbered by first appearance until finish.
type labels struct {
	fixed   bool // the class list was given and may not grow
	first   bool // fixed by the first block of a stream
	index   map[string]int32
	names   []string
	pending int32        // what commit pushes
	growth  store.Growth // of names
	y       blocks[int32]
}

// newLabels starts a collection; fixed, if not nil, is the whole list of classes.
func newLabels(fixed []string) (*labels, error) {
	l := &labels{fixed: fixed != nil, index: make(map[string]int32, len(fixed))}
	for _, name := range fixed {
		if fault := names.Fault(name); fault != "" {
			return nil, fmt.Errorf("dataset: given class name %s %s", quote.Text(name), fault)
		}
		if _, twice := l.index[name]; twice {
			return nil, fmt.Errorf("dataset: given class name %s occurs twice", quote.Text(name))
		}
		l.index[name] = int32(len(l.names))
		l.names = append(l.names, name)
	}
	return l, nil
}

// set takes the label of the next example, and returns what is wrong with it.
func (l *labels) set(text []byte) string {
	text = decimal.Trim(text)
	k, known := l.index[string(text)]
	if !known {
		name := string(text)
		if name == "" {
			return `found an empty label "", wanted a class name; label the example, or leave it out`
		}
		if fault := names.Fault(name); fault != "" {
			return "label " + quote.Text(name) + " " + fault
		}
		if l.first {
			return fmt.Sprintf("label %s is not one of the %d classes that were read first, %s; name all "+
				"classes ("+setting.Spell("classes", "")+")", quote.Text(name), len(l.names),
				quote.List(l.names))
		}
		if l.fixed {
			return fmt.Sprintf("label %s is not one of the %d known classes %s",
				quote.Text(name), len(l.names), quote.List(l.names))
		}
		k = int32(len(l.names))
		l.index[name] = k
		l.names = append(l.names, name)
		l.growth.Bytes += len(name) + 64 // with what the lists take of it
	}
	l.pending = k
	return ""
}

// checkGrowth returns an error where memory would not hold many more names.
func (l *labels) checkGrowth() error {
	return l.growth.Check(1<<20, "a list of more than %d names of classes", len(l.names))
}

// commit gives the next example the label set last.
func (l *labels) commit() { l.y.push(l.pending) }

// finish returns the final classes, without those of rejected examples alone, and the labels.
func (l *labels) finish() ([]string, []int32) {
	y := l.y.flatten()
	if l.fixed {
		return l.names, y
	}
	used := make([]bool, len(l.names))
	for _, k := range y {
		used[k] = true
	}
	var classes []string
	for k, name := range l.names {
		if used[k] {
			classes = append(classes, name)
		}
	}
	dataset.SortClasses(classes)
	final := make([]int32, len(l.names))
	for k, name := range classes {
		final[l.index[name]] = int32(k)
	}
	for i, k := range y {
		y[i] = final[k]
	}
	return classes, y
}

// ids collects what the examples are called: the texts of Options.IDColumn.
type ids struct {
	pending string // what commit pushes
	texts   blocks[string]
	growth  store.Growth // of texts
}

// set takes the id of the next example, and returns what is wrong with it.
func (s *ids) set(text []byte) string {
	s.pending = string(decimal.Trim(text))
	if fault := names.Fault(s.pending); fault != "" && s.pending != "" {
		return "id " + quote.Text(s.pending) + " " + fault
	}
	return ""
}

// commit keeps the id; an error says that memory would not hold many more.
func (s *ids) commit() error {
	s.texts.push(s.pending)
	s.growth.Bytes += len(s.pending) + 32
	return s.growth.Check(1<<22, "a list of more than %d ids", s.texts.len())
}

// chooseID finds the column that names the examples, if one is asked for.
func (c *columns) chooseID(o Options) string {
	text := strings.TrimSpace(o.IDColumn)
	if text == "" {
		return ""
	}
	j, fault := c.find(text, "the column of ids")
	switch {
	case fault != "":
		return fault
	case c.role[j] == ignored:
		return fmt.Sprintf("found the column of ids %s among the columns to leave out, wanted one or "+
			"the other", quote.Text(text))
	}
	c.leaveOut(j)
	c.role[j], c.id = identity, j
	return ""
}

// judgeIDs warns of ids that several examples have.
func judgeIDs(d *dataset.Dataset) {
	first := make(map[string]int, len(d.IDs))
	repeated, example := 0, ""
	for i, id := range d.IDs {
		if _, seen := first[id]; !seen {
			first[id] = i
		} else if repeated++; repeated == 1 {
			example = fmt.Sprintf("%s of examples %d and %d", quote.Text(id), first[id]+1, i+1)
		}
	}
	if repeated > 0 {
		d.Warnings = append(d.Warnings,
			fmt.Sprintf("%s: %d examples have the id of an earlier one, such as %s; is it the column of "+
				"their names ("+setting.Spell("id-column", "")+")?", d.Path, repeated, example))
	}
}
