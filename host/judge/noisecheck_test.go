package judge_test

import (
	"context"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

// A right matrix helps and is not contradicted; one that is turned is recognised; one of other
// noise, of labels that are right, harms.
func TestCheckNoise(t *testing.T) {
	data, right, truth := noisyDigits()
	params := softmax.Defaults()
	params.L2 = softmax.L2(0.001)
	o := host.Options{Engine: simd.New(), Learner: params, Preparation: "standardize,bias,l2"}
	out := func(noise *confusion.Matrix) *judge.HeldOut {
		return must(host.OutOfFold(context.Background(), data, noise, o, 3))
	}
	without := out(nil)
	check := func(noise *confusion.Matrix) *judge.NoiseCheck {
		return must(judge.CheckNoise(t.Context(), data.Y, noise, out(noise), without))
	}
	if c := check(right); c.Verdict != judge.Helps || c.Contradicted || c.Accuracy.Mean < 0.1 ||
		len(c.Warnings) > 0 {
		t.Errorf("right: %+v", c)
	}
	c := check(transposed(right))
	if c.Verdict != judge.Turned || len(c.Warnings) < 2 ||
		!strings.Contains(c.Warnings[1], "is it turned?") {
		t.Errorf("turned: %q", c.Warnings)
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
	data.Y = truth
	without = out(nil)
	c = check(right)
	if c.Verdict != judge.Harms || !c.Contradicted || !strings.Contains(c.Warnings[0],
		"does not explain") {
		t.Errorf("of labels that are right: %s, %q", c.Verdict, c.Warnings)
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
