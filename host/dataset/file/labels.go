package file

import (
	"fmt"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/internal/names"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/option"
	"github.com/uma-gpu/uma-gpu/internal/quote"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// labels collects a label per example, numbered by first appearance until finish.
type labels struct {
	fixed   bool // the class list was given and may not grow
	first   bool // fixed by the first block of a stream
	index   map[string]int32
	names   []string
	rules   LabelRules
	pending int32        // what commit pushes
	set1    []int32      // beside it, the candidates of the next example: none of an unknown label
	growth  store.Growth // of names
	y       []int32
	sets    [][]int32 // the candidates of each example; nil for one class, as those at the end
}

// newLabels starts a collection; fixed, if not nil, is the whole list of classes.
func newLabels(fixed []string, rules LabelRules) (*labels, error) {
	l := &labels{fixed: fixed != nil, rules: rules, index: make(map[string]int32, len(fixed))}
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
	text, l.set1 = decimal.Trim(text), nil
	if k, known := l.index[string(text)]; known && string(text) != l.rules.UnknownLabel {
		l.pending = k
		return ""
	}
	if ok, fault := l.several(string(text)); ok {
		return fault
	}
	k, fault := l.class(string(text))
	if fault == "" {
		l.pending = k
	}
	return fault
}

// class returns the number of a class, and what is wrong with its name.
func (l *labels) class(name string) (k int32, fault string) {
	k, known := l.index[name]
	if !known {
		if name == "" {
			return 0, `found an empty label "", wanted a class name; label the example, or leave it out`
		}
		if fault := names.Fault(name); fault != "" {
			return 0, "label " + quote.Text(name) + " " + fault
		}
		if l.first {
			return 0, fmt.Sprintf("label %s is not one of the %d classes that were read first, %s; name "+
				"all classes ("+option.Named("classes")+")", quote.Text(name), len(l.names),
				quote.List(l.names))
		}
		if l.fixed {
			return 0, fmt.Sprintf("label %s is not one of the %d known classes %s",
				quote.Text(name), len(l.names), quote.List(l.names))
		}
		k = int32(len(l.names))
		l.index[name] = k
		l.names = append(l.names, name)
		l.growth.Bytes += len(name) + 64 // with what the lists take of it
	}
	return k, ""
}

// checkGrowth returns an error where memory would not hold many more names.
func (l *labels) checkGrowth() error {
	return l.growth.Check(1<<20, "a list of more than %d names of classes", len(l.names))
}

// commit gives the next example the label set last.
func (l *labels) commit() {
	if l.set1 != nil {
		for len(l.sets) < len(l.y) {
			l.sets = append(l.sets, nil)
		}
		l.sets = append(l.sets, l.set1)
	}
	l.y = append(l.y, l.pending)
}

// finish returns the final classes, without those of rejected examples alone, the labels, and what
// is known of classes, n×Q; nil if each example has one.
func (l *labels) finish() (classes []string, y []int32, known []float32, err error) {
	defer func() { l.y, l.sets = nil, nil }() // the next block of a stream begins anew
	y = l.y
	if l.fixed {
		final := lists.UpTo[int32](len(l.names))
		known, err = l.evidence(y, final, len(l.names))
		return l.names, y, known, err
	}
	used := make([]bool, len(l.names))
	for i, k := range y {
		if i < len(l.sets) && l.sets[i] != nil {
			for _, k := range l.sets[i] {
				used[k] = true
			}
			continue
		}
		used[k] = true
	}
	classes = lists.Keep(l.names, func(name string) bool { return used[l.index[name]] })
	dataset.SortClasses(classes)
	final := make([]int32, len(l.names))
	for k, name := range classes {
		final[l.index[name]] = int32(k)
	}
	for i, k := range y {
		if len(final) > 0 {
			y[i] = final[k]
		}
	}
	known, err = l.evidence(y, final, len(classes))
	return classes, y, known, err
}

// ids collects what the examples are called: the texts of Options.IDColumn.
type ids struct {
	pending string // what commit pushes
	texts   []string
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
	s.texts = append(s.texts, s.pending)
	s.growth.Bytes += len(s.pending) + 32
	return s.growth.Check(1<<22, "a list of more than %d ids", len(s.texts))
}

// chooseOther gives a column that is no feature its role, if one is asked for; not says among which
// it must not be. It returns the column, -1 for none.
func (c *columns) chooseOther(asked, what, not string, of role) (at int, fault string) {
	text := strings.TrimSpace(asked)
	if text == "" {
		return -1, ""
	}
	j, fault := c.find(text, what)
	if fault == "" && c.role[j] != feature {
		fault = fmt.Sprintf("found %s %s among the columns to leave out%s, wanted one or the other", what,
			quote.Text(text), not)
	}
	if fault != "" {
		return -1, fault
	}
	c.leaveOut(j)
	c.role[j] = of
	return j, ""
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
				"their names ("+option.Named("id-column")+")?", d.Path, repeated, example))
	}
}
