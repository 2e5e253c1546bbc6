package file

import (
	"fmt"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/dataset/features"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// LabelRules say what labels mean that are not the name of one class.
type LabelRules struct {
	// UnknownLabel is a label that means none, such as -1, besides an empty one. The Evidence of an
	// example without a label allows every class.
	UnknownLabel string
	// Between separates the candidate classes of a label, such as |; "" for one class.
	Between string
}

// labels collects a label per example, numbered by first appearance until finish.
type labels struct {
	fixed   bool // the class list was given and may not grow
	merges  bool // another spelling of a class is that class
	index   map[string]int32
	alike   map[string]int32 // of sameClass of each name; -1 if several have it
	names   []string
	rules   LabelRules
	growth  memory.Growth // of names
	pending int32         // what commit pushes
	several []int32       // beside it, the candidates of the next example: none of an unknown label
	y       []int32
	sets    [][]int32 // the candidates of each example; nil for one class, as those at the end
}

// newLabels starts a collection; fixed, if not nil, is the whole list of classes.
func newLabels(fixed []string, rules LabelRules) (*labels, error) {
	l := &labels{fixed: fixed != nil, rules: rules, index: make(map[string]int32, len(fixed)),
		alike: map[string]int32{}}
	for _, name := range fixed {
		if fault := dataset.NameFault(name); fault != "" {
			return nil, fmt.Errorf("dataset: given class name %s %s", quote.Text(name), fault)
		}
		if _, twice := l.index[name]; twice {
			return nil, fmt.Errorf("dataset: given class name %s occurs twice", quote.Text(name))
		}
		l.add(name)
	}
	return l, nil
}

// set takes the label of the next example, unless the error says what is wrong with it.
func (l *labels) set(text []byte) (err error) {
	l.several = nil
	if k, known := l.index[string(text)]; known && string(text) != l.rules.UnknownLabel {
		l.pending = k
		return nil
	}
	name := string(text)
	trimmed := decimal.Trim(text)
	switch {
	case features.IsMissing(trimmed) || string(trimmed) == l.rules.UnknownLabel:
		l.pending, l.several = 0, []int32{}
		return nil
	case l.rules.Between != "" && strings.Contains(name, l.rules.Between):
		return l.candidates(name)
	}
	l.pending, err = l.class(name)
	return err
}

// none reports whether the label set last is that of no class.
func (l *labels) none() bool { return l.several != nil && len(l.several) == 0 }

// candidates takes a label of several classes.
func (l *labels) candidates(text string) error {
	var all []int32
	for _, name := range strings.Split(text, l.rules.Between) {
		k, err := l.class(strings.TrimSpace(name))
		if err != nil {
			return fmt.Errorf("of the candidate classes %s: %v", quote.Text(text), err)
		}
		all = append(all, k)
	}
	slices.Sort(all)
	l.several = slices.Compact(all)
	if l.pending = all[0]; len(l.several) == 1 {
		l.several = nil
	}
	return nil
}

// class returns the number of a class.
func (l *labels) class(name string) (int32, error) {
	if k, known := l.index[name]; known {
		return k, nil
	}
	if features.IsMissing([]byte(name)) { // of several
		return 0, fmt.Errorf("found %s, wanted a class name", quote.Text(name))
	}
	if fault := dataset.ClassFault(name); fault != "" {
		return 0, fmt.Errorf("label %s %s", quote.Text(name), fault)
	}
	if k, found := l.alike[sameClass(name)]; (l.fixed || l.merges) && found && k >= 0 {
		l.index[name] = k
		return k, nil
	}
	if l.fixed {
		return 0, fmt.Errorf("label %s is not one of the %d known classes %s", quote.Text(name),
			len(l.names), quote.List(l.names))
	}
	k := l.add(name)
	l.growth.Bytes += len(name) + 128 // with what the lists take of it
	return k, nil
}

// add appends a class.
func (l *labels) add(name string) int32 {
	k := int32(len(l.names))
	l.index[name], l.names = k, append(l.names, name)
	if _, twice := l.alike[sameClass(name)]; twice {
		k = -1
	}
	l.alike[sameClass(name)] = k
	return l.index[name]
}

// sameClass returns a text that is equal for spellings of one class: with other blanks around, or
// of the same number, such as 1, +1 and 1.0.
func sameClass(name string) string {
	name = strings.Trim(name, " \t")
	if _, number := decimal.Parse([]byte(name)); number && !strings.ContainsAny(name, "eE") {
		name = strings.TrimPrefix(name, "+")
		if whole, part, _ := strings.Cut(name, "."); strings.Trim(part, "0") == "" {
			name = whole
		}
	}
	return name
}

// commit gives the next example the label set last.
func (l *labels) commit() {
	if l.several != nil {
		for len(l.sets) < len(l.y) {
			l.sets = append(l.sets, nil)
		}
		l.sets = append(l.sets, l.several)
	}
	l.y = append(l.y, l.pending)
}

// setOf returns the candidate classes of example i; nil if it has one class.
func (l *labels) setOf(i int) []int32 {
	if i < len(l.sets) {
		return l.sets[i]
	}
	return nil
}

// finish returns the classes of accepted examples in their final order, the labels, and
// Evidence.Classes; nil if each example has one class.
func (l *labels) finish() (classes []string, y []int32, evidence []float32, err error) {
	y = l.y
	classes, final := l.names, lists.UpTo[int32](len(l.names))
	if !l.fixed {
		used := make([]bool, len(l.names))
		for i, k := range y {
			set := l.setOf(i)
			if set == nil {
				used[k] = true
			}
			for _, k := range set {
				used[k] = true
			}
		}
		classes = lists.Keep(l.names, func(name string) bool { return used[l.index[name]] })
		dataset.SortClasses(classes)
		for k, name := range classes {
			final[l.index[name]] = int32(k)
		}
		for i, k := range y {
			if len(final) > 0 {
				y[i] = final[k]
			}
		}
	}
	if len(l.sets) > 0 {
		evidence, err = l.evidence(y, final, len(classes))
	}
	return classes, y, evidence, err
}

// evidence returns the candidates of each example, n×q, of classes whose final numbers are given,
// and labels examples of several candidates with one of them.
func (l *labels) evidence(y, final []int32, q int) ([]float32, error) {
	if q == 0 {
		return nil, fmt.Errorf("found no label in %d examples, wanted a class name in some; is it the "+
			"right label column?", len(y))
	}
	if err := memory.Check(memory.Product(len(y), q, 4), fmt.Sprintf("what is known of the labels of "+
		"%d examples of %d classes", len(y), q)); err != nil {
		return nil, err
	}
	known := make([]float32, len(y)*q)
	for i := range y {
		row, set := known[i*q:(i+1)*q], l.setOf(i)
		switch {
		case set == nil:
			row[y[i]] = 1
		case len(set) == 0:
			for k := range row {
				row[k] = 1
			}
			y[i] = int32(i % q)
		default:
			for _, k := range set {
				row[final[k]] = 1
			}
			y[i] = final[set[i%len(set)]]
		}
	}
	return known, nil
}

// labelList are labels that lie beside the examples: in a file of their own, or in an array.
type labelList struct {
	name   string         // of the file or the array
	column string         // of the file, for messages
	index  map[string]int // of each name in names
	names  []string       // the different labels
	codes  []int32        // of each example in names; below 0 if faults says what is wrong
	lines  []int          // where each is in the file; nil for an array
	faults map[int]error
	growth memory.Growth
}

// add appends a label, or what is wrong with it. An error says that memory would not hold many
// more.
func (l *labelList) add(text []byte, fault error) error {
	if l.index == nil {
		l.index, l.faults = map[string]int{}, map[int]error{}
	}
	code, known := l.index[string(text)]
	if fault != nil {
		l.faults[len(l.codes)], code = fault, -1
	} else if !known {
		code = len(l.names)
		l.index[string(text)], l.names = code, append(l.names, string(text))
		l.growth.Bytes += len(text) + 128 // with what the lists take of it
	}
	l.codes = append(l.codes, int32(code))
	l.growth.Bytes += 4
	if err := l.growth.Check(1<<22, "a list of more than %d labels", len(l.codes)); err != nil {
		return fmt.Errorf("%s: %w", l.name, err)
	}
	return nil
}

// choose makes the label of example i the next commit of known.
func (l *labelList) choose(known *labels, i int) error {
	err := l.faults[i]
	if err == nil {
		err = known.set([]byte(l.names[l.codes[i]]))
	}
	switch {
	case err == nil || isPlaced(err):
		return err
	case l.lines == nil:
		return fmt.Errorf("%s: label %d: %w", l.name, i+1, err)
	}
	return &placeError{l.name, l.lines[i], 0, fmt.Errorf("%s: %w", l.column, err)}
}

// good reports whether every example gets a label that known takes.
func (l *labelList) good(known *labels) bool {
	return len(l.faults) == 0 && !slices.ContainsFunc(l.names,
		func(name string) bool { return known.set([]byte(name)) != nil })
}
