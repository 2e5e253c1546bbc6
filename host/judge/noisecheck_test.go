package judge_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

// A right matrix helps and is not contradicted; one that is turned is recognised; one that raises
// the error harms. The verdict needs no right labels, and they agree with it.
func TestCheckNoise(t *testing.T) {
	data, right, truth := noisyDigits()
	params := softmax.Defaults()
	params.L2 = softmax.L2(0.001)
	o := host.Options{Engine: simd.New(), Learner: params, Preparation: "standardize,bias,l2"}
	out := func(noise *confusion.Matrix) *judge.HeldOut {
		return must(host.OutOfFold(context.Background(), data, noise, o, 3))
	}
	without := out(nil)
	errors := func(h *judge.HeldOut) (n int) {
		for i, t := range truth {
			if lists.Largest(h.Scores[i*right.Q():(i+1)*right.Q()]) != int(t) {
				n++
			}
		}
		return n
	}
	plain := map[bool]*judge.HeldOut{false: without}
	noisy := data.Y
	data.Y = truth
	plain[true] = out(nil)
	none := must(confusion.Symmetric(data.Classes, 0))
	for name, test := range map[string]struct {
		noise   *confusion.Matrix
		clean   bool // of labels that are right
		verdict string
		better  int    // the model with it: 1 if it errs more, -1 if less, 0 for either
		want    string // in the warnings
	}{
		"right":       {right, false, judge.Helps, -1, ""},
		"turned":      {transposed(right), false, judge.Turned, 1, "is it turned?"},
		"other noise": {must(confusion.Symmetric(data.Classes, 0.6)), false, judge.Rejected, 0, "contradict"},
		"of no noise": {right, true, judge.Harms, 0, "does not explain"},
		"seldom":      {mergedInto(none, 2, 1), true, judge.Harms, 1, "does not explain"},
		"never":       {mergedInto(right, 2, 1), false, judge.Helps, -1, `no example is predicted as "2"`},
	} {
		if data.Y, without = noisy, plain[test.clean]; test.clean {
			data.Y = truth
		}
		with := out(test.noise)
		c := must(judge.CheckNoise(t.Context(), data.Y, test.noise, with, without))
		said := strings.Join(c.Warnings, "; ")
		if c.Verdict != test.verdict || c.Contradicted == (test.want == "") ||
			!strings.Contains(said, test.want) || test.want == "" && said != "" {
			t.Errorf("%s: %+v", name, c)
		}
		more := errors(with) - errors(without)
		if test.better*more < 0 || c.Verdict == judge.Helps && c.Accuracy.Mean < 0.1 {
			t.Errorf("%s: %d more errors, %+v", name, more, c.Accuracy)
		}
	}
	// Beyond reading, a matrix without an inverse and too few examples need no training.
	useless := transposed(right)
	for at := range useless.P {
		useless.P[at] = 1 / float64(useless.Q())
	}
	if c := judge.WithoutTraining(data.N, useless); c == nil || c.Verdict != judge.Rejected ||
		!strings.Contains(c.Warnings[0], "cannot be inverted") {
		t.Errorf("useless: %+v", c)
	}
	if c := judge.WithoutTraining(8, right); c == nil || c.Verdict != judge.NoDifference ||
		!strings.Contains(c.Warnings[0], "too few rows") {
		t.Errorf("of 8 examples: %+v", c)
	}
	if c := judge.WithoutTraining(data.N, right); c != nil {
		t.Errorf("right: %+v", c)
	}
}

// transposed has the noise go the other way.
func transposed(m *confusion.Matrix) *confusion.Matrix {
	q := m.Q()
	t := &confusion.Matrix{Classes: m.Classes, P: make([]float64, q*q)}
	for i, v := range m.P {
		t.P[i%q*q+i/q] = v
	}
	return t
}

// mergedInto says that examples of a class are labelled as another, and half of that one's as it.
func mergedInto(m *confusion.Matrix, class, other int) *confusion.Matrix {
	q := m.Q()
	n := &confusion.Matrix{Classes: m.Classes, P: slices.Clone(m.P)}
	for k := range q {
		n.P[k*q+class], n.P[k*q+other] = 0, 0
	}
	n.P[other*q+class], n.P[class*q+other], n.P[other*q+other] = 1, 0.5, 0.5
	return n
}
