package file

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// labels collects one label per example, numbered by first appearance until
// finish orders the classes.
type labels struct {
	fixed   bool // the class list was given and may not grow
	first   bool // fixed by the first block of a stream
	index   map[string]int32
	names   []string
	pending int32 // what commit pushes
	bytes   int   // of names
	checked int   // of bytes, when memory was last looked at
	y       blocks[int32]
}

// newLabels starts a collection; fixed, if not nil, is the only and final list
// of classes.
func newLabels(fixed []string) (*labels, error) {
	l := &labels{fixed: fixed != nil, index: make(map[string]int32, len(fixed))}
	for _, name := range fixed {
		if fault := dataset.NameFault(name); fault != "" {
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

// set takes the label of the next example, which commit then keeps; it returns
// what is wrong with it, "" if nothing is. The text is copied if it is kept.
func (l *labels) set(text []byte) string {
	text = decimal.Trim(text)
	k, known := l.index[string(text)]
	if !known {
		name := string(text)
		if name == "" {
			return `found an empty label "", wanted a class name; label the example, or leave it out`
		}
		if fault := dataset.NameFault(name); fault != "" {
			return "label " + quote.Text(name) + " " + fault
		}
		if l.first {
			return fmt.Sprintf("label %s is not one of the %d classes that were read first, %s; name all "+
				"classes (--classes)", quote.Text(name), len(l.names), quote.List(l.names))
		}
		if l.fixed {
			return fmt.Sprintf("label %s is not one of the %d known classes %s",
				quote.Text(name), len(l.names), quote.List(l.names))
		}
		k = int32(len(l.names))
		l.index[name] = k
		l.names = append(l.names, name)
		l.bytes += len(name) + 64 // with what the lists take of it
	}
	l.pending = k
	return ""
}

// checkGrowth returns an error where memory would not hold many more names: packed files
// can be small for all that they hold.
func (l *labels) checkGrowth() error {
	const piece = 1 << 20
	added := l.bytes - l.checked
	if added < piece {
		return nil
	}
	l.checked = l.bytes
	return memory.Check(int64(8*piece+2*added), fmt.Sprintf("a list of more than %d names of classes",
		len(l.names)))
}

// commit gives the next example the label set last.
func (l *labels) commit() { l.y.push(l.pending) }

// finish returns the classes in their final order and the label of each example.
// A class that only rejected examples had is none.
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
