package exchange

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/uma-gpu/uma-gpu/host/model"
	"github.com/uma-gpu/uma-gpu/internal/option"
)

// Labels returns what the integer labels of m are in LIBLINEAR's form, in the order of its
// classes: the names themselves if all are integers of 32 bits, else 0, 1, 2, …, and named is
// false.
func Labels(m *model.Model) (labels []int64, named bool) {
	if labels, named = integers(m.Meta.Classes, 32); named {
		return labels, true
	}
	labels = make([]int64, m.Q)
	for r := range labels {
		labels[r] = int64(r)
	}
	return labels, false
}

// writeLIBLINEAR writes m as a model file of LIBLINEAR (its README has the format), for raw
// features: the preparation is folded into the weights, in float64, and Labels are the labels.
// That rows are scaled to length 1 divides the scores of an example by one number, which moves no
// class, and is left out. So is the temperature: there are no probabilities. The solver is called
// MCSVM_CS, for which predict takes the class of the largest of Q scores, the first of equal ones,
// as we do.
//
// Errors: ErrForm and model.ErrNotLinear, of a model with a kernel map; and from w.
func writeLIBLINEAR(w io.Writer, m *model.Model) error {
	weights, constants, err := m.Raw()
	if err != nil {
		return fmt.Errorf("%w: %w, and LIBLINEAR knows no others: write ONNX, or train without %s",
			ErrForm, err, option.Named("kernel"))
	}
	d, biased := m.Meta.Features.Count, slices.ContainsFunc(constants,
		func(v float64) bool { return v != 0 })
	bias := -1
	if biased {
		bias = 1
	}
	b := bufio.NewWriter(w) // keeps the first error, for Flush
	labels, _ := Labels(m)
	fmt.Fprintf(b, "solver_type MCSVM_CS\nnr_class %d\nlabel", m.Q)
	for _, label := range labels {
		fmt.Fprintf(b, " %d", label)
	}
	fmt.Fprintf(b, "\nnr_feature %d\nbias %d\nw\n", d, bias)
	var line []byte
	number := func(v float64) { line = append(strconv.AppendFloat(line, v, 'g', -1, 64), ' ') }
	end := func() {
		line = append(line, '\n')
		b.Write(line)
		line = line[:0]
	}
	for j := range d {
		for r := range m.Q {
			number(weights[r*d+j])
		}
		end()
	}
	if biased {
		for _, v := range constants {
			number(v)
		}
		end()
	}
	return b.Flush()
}
