package dataset

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/internal/decimal"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// New returns a data set of examples that are in memory already: the same, to the Hash,
// as reading them from a file gives. x are raw values, which d shares, but for subnormal
// ones, which are +0 in a copy (clause 2). labels has the name of the class of each
// example, spaces around it aside, and is nil if there are none; the classes get Read's
// order. features has the names of the features, nil if they have none.
//
// It is an error if the lists are not as long as x has examples and features, if a
// value is not finite, or if a class has a name that no file could hold. Of one class
// only, which Read refuses, New makes a data set: there is no column to have mistaken.
func New(x Examples, labels, features []string) (*Dataset, error) {
	if err := x.Check(); err != nil {
		return nil, err
	}
	if labels != nil && len(labels) != x.N {
		return nil, fmt.Errorf("dataset: found %d labels, wanted %d, one for each example", len(labels),
			x.N)
	}
	if x.N == 0 {
		return nil, fmt.Errorf("dataset: found no example, wanted at least one")
	}
	d := &Dataset{Examples: x, Features: slices.Clone(features)}
	d.flushSubnormals()
	if labels != nil {
		class := map[string]int32{}
		for i, name := range labels {
			name = strings.Trim(name, " \t")
			if _, seen := class[name]; seen {
				continue
			}
			if name == "" {
				return nil, fmt.Errorf("dataset: label %d (counted from 0): found an empty label, wanted a "+
					"class name", i)
			}
			if fault := NameFault(name); fault != "" {
				return nil, fmt.Errorf("dataset: label %d (counted from 0): label %s %s", i, quote.Text(name),
					fault)
			}
			class[name] = 0
			d.Classes = append(d.Classes, name)
		}
		SortClasses(d.Classes)
		for q, name := range d.Classes {
			class[name] = int32(q)
		}
		for _, name := range labels {
			d.Y = append(d.Y, class[strings.Trim(name, " \t")])
		}
	}
	if err := d.CheckAll(context.Background()); err != nil {
		return nil, err
	}
	d.SHA256 = d.Hash()
	return d, nil
}

// flushSubnormals replaces the values of d by a copy without subnormal ones, if there
// are any, and counts them.
func (d *Dataset) flushSubnormals() {
	values := &d.X
	if d.Sparse() {
		values = &d.Values
	}
	subnormal := func(v float32) bool {
		return v < decimal.MinNormal && v > -decimal.MinNormal &&
			v != 0
	}
	if !slices.ContainsFunc(*values, subnormal) {
		return
	}
	*values = slices.Clone(*values)
	for k, v := range *values {
		(*values)[k] = decimal.Flush(v, &d.Subnormals)
	}
}
