package file

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// LabelRules say what labels mean that are not the name of one class.
type LabelRules struct {
	// Unlabelled allows examples without a label: their Evidence allows every class.
	Unlabelled bool
	// UnknownLabel is a label that means none, such as -1, besides an empty one.
	UnknownLabel string
	// Between separates the candidate classes of a label, such as |; "" for one class.
	Between string
}

// labels collects a label per example, numbered by first appearance until finish.
type labels struct {
	fixed   bool // the class list was given and may not grow
	index   map[string]int32
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
	l := &labels{fixed: fixed != nil, rules: rules, index: make(map[string]int32, len(fixed))}
	for _, name := range fixed {
		if fault := dataset.ClassFault(name); fault != "" {
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
func (l *labels) set(text []byte) (fault string) {
	text, l.several = decimal.Trim(text), nil
	if k, known := l.index[string(text)]; known && string(text) != l.rules.UnknownLabel {
		l.pending = k
		return ""
	}
	name := string(text)
	switch none := name == "" || name == l.rules.UnknownLabel; {
	case none && l.rules.Unlabelled:
		l.pending, l.several = 0, []int32{}
		return ""
	case l.rules.Between != "" && strings.Contains(name, l.rules.Between):
		return l.candidates(name)
	}
	k, fault := l.class(name)
	if fault == "" {
		l.pending = k
	}
	return fault
}

// candidates takes a label of several classes.
func (l *labels) candidates(text string) (fault string) {
	var all []int32
	for _, name := range strings.Split(text, l.rules.Between) {
		k, fault := l.class(strings.TrimSpace(name))
		if fault != "" {
			return fmt.Sprintf("of the candidate classes %s: %s", quote.Text(text), fault)
		}
		all = append(all, k)
	}
	slices.Sort(all)
	l.several = slices.Compact(all)
	if l.pending = all[0]; len(l.several) == 1 {
		l.several = nil
	}
	return ""
}

// class returns the number of a class, and what is wrong with its name.
func (l *labels) class(name string) (k int32, fault string) {
	k, known := l.index[name]
	if known {
		return k, ""
	}
	if name == "" {
		return 0, emptyLabel
	}
	if fault := dataset.ClassFault(name); fault != "" {
		return 0, "label " + quote.Text(name) + " " + fault
	}
	if l.fixed {
		return 0, fmt.Sprintf("label %s is not one of the %d known classes %s", quote.Text(name),
			len(l.names), quote.List(l.names))
	}
	k = int32(len(l.names))
	l.index[name] = k
	l.names = append(l.names, name)
	l.growth.Bytes += len(name) + 64 // with what the lists take of it
	return k, ""
}

// What is wrong with an example without a label, where examples have labels.
const (
	emptyLabel = `found an empty label "", wanted a class name; label the example, or leave it out`
	nullLabel  = "found a missing label (null), wanted a class"
)

// checkGrowth returns an error where memory would not hold many more names.
func (l *labels) checkGrowth() error {
	return l.growth.Check(1<<20, "a list of more than %d names of classes", len(l.names))
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

// external are labels from another file or array; example k has label k.
type external struct {
	name   string // of the file, or of the array in its file
	labels *labels
	codes  []int32         // class of each example, -1 if its label is bad
	bad    map[int]error   // what is wrong with the bad ones
	sets   map[int][]int32 // the candidates of examples that have several, or none
}

// choose makes label k the next commit; fault: the example has no good label.
func (e *external) choose(k int) (fault, err error) {
	if k >= len(e.codes) {
		return nil, fmt.Errorf("%s: found %d labels, wanted one for each example, and there are more "+
			"examples; are the files a pair?", e.name, len(e.codes))
	}
	if e.codes[k] < 0 {
		return e.bad[k], nil
	}
	e.labels.pending, e.labels.several = e.codes[k], e.sets[k]
	return nil, nil
}

// tooMany words that the data file has only n examples.
func (e *external) tooMany(path string, n int) error {
	return fmt.Errorf("%s: found %d labels, wanted %d, one for each example of %s; are the files a "+
		"pair? (does the label file begin with a header? then name the column)",
		e.name, len(e.codes), n, path)
}

// ids collects what the examples are called: the texts of Options.IDColumn.
type ids struct {
	pending string // what commit pushes
	texts   []string
	growth  memory.Growth // of texts
}

// set takes the id of the next example, and returns what is wrong with it.
func (s *ids) set(text []byte) string {
	s.pending = string(decimal.Trim(text))
	if fault := dataset.ClassFault(s.pending); fault != "" && s.pending != "" {
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

// weights collects how much examples count: the numbers of Options.WeightColumn.
type weights struct {
	pending float64
	values  []float64
}

// set takes the weight of the next example, and returns what is wrong with it.
func (w *weights) set(text []byte) string {
	text = decimal.Trim(text)
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil || !(v >= 0) || math.IsInf(v, 1) {
		return fmt.Sprintf("found the weight %s, wanted a number of at least 0 (0 leaves it out)",
			quote.Text(string(text)))
	}
	w.pending = v
	return ""
}
