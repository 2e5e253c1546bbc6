package file

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// LabelRules say what labels mean that are not the name of one class.
type LabelRules struct {
	// Unlabelled has examples without a label: nothing is known of their class.
	Unlabelled bool
	// UnknownLabel is a label that stands for none, such as -1; "" for empty ones alone.
	UnknownLabel string
	// EmptyClass, if not "", is the class of examples without a label.
	EmptyClass string
	// Between is what stands between the candidate classes of a label, such as |; "" for one class.
	Between string
}

// lacksLabels reports whether examples may have no label.
func (r LabelRules) lacksLabels() bool { return r.Unlabelled || r.EmptyClass != "" }

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

// several takes a label that is not the name of one class; ok says that it is one.
func (l *labels) several(text string) (ok bool, fault string) {
	switch {
	case (text == "" || text == l.rules.UnknownLabel) && l.rules.EmptyClass != "":
		fault = l.set([]byte(l.rules.EmptyClass))
		return true, fault
	case (text == "" || text == l.rules.UnknownLabel) && l.rules.Unlabelled:
		l.pending, l.set1 = 0, []int32{}
		return true, ""
	case l.rules.Between == "" || !strings.Contains(text, l.rules.Between):
		return false, ""
	}
	var all []int32
	for _, name := range strings.Split(text, l.rules.Between) {
		k, fault := l.class(strings.TrimSpace(name))
		if fault != "" {
			return true, fmt.Sprintf("of the candidate classes %s: %s", quote.Text(text), fault)
		}
		all = append(all, k)
	}
	slices.Sort(all)
	l.set1 = slices.Compact(all)
	if l.pending = all[0]; len(l.set1) == 1 {
		l.set1 = nil
	}
	return true, ""
}

// evidence returns the sets of the examples that have several classes, n×Q, of classes whose final
// numbers are given, and gives the examples the label of one of them; nil if there are none.
func (l *labels) evidence(y, final []int32, q int) ([]float32, error) {
	if len(l.sets) == 0 {
		return nil, nil
	}
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
		row := known[i*q : (i+1)*q]
		switch {
		case i >= len(l.sets) || l.sets[i] == nil:
			row[y[i]] = 1
		case len(l.sets[i]) == 0:
			for k := range row {
				row[k] = 1
			}
			y[i] = int32(i % q)
		default:
			for _, k := range l.sets[i] {
				row[final[k]] = 1
			}
			y[i] = final[l.sets[i][i%len(l.sets[i])]]
		}
	}
	return known, nil
}

// addEvidence gives d what its labels and weights say.
func (b *builder) addEvidence(d *dataset.Dataset, classes []float32) error {
	e := &dataset.Evidence{Classes: classes}
	if b.weights != nil {
		e.Weight, b.weights.values = b.weights.values, nil
		if err := dataset.CheckWeights(e.Weight, d.N); err != nil {
			return fmt.Errorf("%s: %w", b.src.path, err)
		}
	}
	if e.Weight != nil || e.Classes != nil {
		d.Evidence = e
	}
	return nil
}

// severalAtOnce returns a class name that is a list of classes, if the names that are lists are at
// least three, and have no part that another name has not, as one or in a list; else "".
func severalAtOnce(names []string) string {
	const least = 3
	for _, mark := range []string{"|", ";", ","} {
		in, lists := map[string]int{}, [][]string(nil)
		for _, name := range names {
			parts := strings.Split(strings.Trim(name, "[](){}"), mark)
			for k, part := range parts {
				parts[k] = strings.Trim(part, " \"'")
				in[parts[k]]++
			}
			if len(parts) > 1 {
				lists = append(lists, parts)
			}
		}
		all := len(lists) >= least && len(in) < len(names)
		for _, parts := range lists {
			all = all && !slices.ContainsFunc(parts, func(part string) bool {
				return part == "" || in[part] < 2
			})
		}
		if all {
			return strings.Join(lists[0], mark)
		}
	}
	return ""
}
