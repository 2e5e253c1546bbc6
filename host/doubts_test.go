package host_test

import (
	"context"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/judge"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

// transposed has the noise go the other way.
func transposed(m *confusion.Matrix) *confusion.Matrix {
	q := m.Q()
	t := &confusion.Matrix{Classes: m.Classes, P: make([]float64, q*q)}
	for i, v := range m.P {
		t.P[i%q*q+i/q] = v
	}
	return t
}

// A training doubts a wrong confusion matrix, and a result that cannot be; it says nothing of
// a right one.
func TestDoubts(t *testing.T) {
	data, right, _ := noisyDigits() // 40 % pairwise
	pairwise := func(rate float64) *confusion.Matrix {
		return must(confusion.Pairwise(data.Classes, rate))
	}
	logistic, pairs := softmax.Defaults(), uma.Defaults()
	logistic.L2 = softmax.L2(0.001)
	for _, c := range []struct {
		name    string
		noise   *confusion.Matrix
		learner learners.Params
		want    []string // a part of each doubt
	}{
		{"right", right, logistic, nil}, {"right", right, pairs, nil}, {"none", nil, logistic, nil},
		{"49 %", pairwise(0.49), logistic, []string{"the estimated error is -", "does not explain"}},
		{"49 %", pairwise(0.49), pairs, []string{"the estimated error is -", "does not explain"}},
		{"turned", transposed(right), logistic, []string{"confusion-axes=true-rows reads it so"}},
		{"turned", transposed(right), pairs, []string{"confusion-axes=true-rows reads it so"}},
		{"25 %", pairwise(0.25), logistic, []string{"does not explain"}},
	} {
		var said []string
		o := host.Options{Engine: simd.New(), Learner: c.learner, MaxSteps: 300}
		o.Watch.Note = func(format string, args ...any) {
			if strings.HasPrefix(format, "warning: ") {
				said = append(said, args[0].(learners.Doubt).String())
			}
		}
		m := must(host.Train(context.Background(), data, c.noise, o))
		var lines []string
		for _, d := range m.Doubts {
			lines = append(lines, d.String())
			if d.Code == "" || d.Finding == "" || d.Advice == "" || !strings.HasPrefix(d.String(),
				d.Finding+"; ") {
				t.Errorf("%s: found the doubt %+v", c.name, d)
			}
		}
		text := strings.Join(lines, "\n")
		if strings.Join(said, "\n") != text {
			t.Errorf("%s: said %q, returned %q", c.name, said, m.Doubts)
		}
		if len(m.Doubts) != len(c.want) {
			t.Errorf("%s, %s: %d doubts, wanted %d: %s", c.name, c.learner.Definition().Name, len(m.Doubts),
				len(c.want), text)
		}
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s, %s: %s\nwanted %q", c.name, c.learner.Definition().Name, text, want)
			}
		}
	}
}

// A class that nothing is predicted as is named.
func TestDoubtsNameClassesNeverPredicted(t *testing.T) {
	data, _, _ := noisyDigits()
	m := must(host.Train(context.Background(), data, nil, host.Options{Engine: simd.New(),
		MaxSteps: host.NoSteps}))
	if len(m.Doubts) != 1 || m.Doubts[0].Code != judge.ClassNotPredicted ||
		!strings.Contains(m.Doubts[0].Finding,
			`no example is predicted as "1", "2", "3", 6 other classes`) {
		t.Errorf("%q", m.Doubts)
	}
}

// A training that ends at once with most left wrong is doubted, in its own words and the
// learner's; one that goes on with another is not for that.
func TestDoubtsOfTheEnd(t *testing.T) {
	data, noise, _ := noisyDigits()
	p := uma.Defaults()
	p.Doubt = 1000
	o := host.Options{Engine: simd.New(), Learner: p}
	m := must(host.Train(context.Background(), data, noise, o))
	codes := map[string]learners.Doubt{}
	for _, d := range m.Doubts {
		codes[d.Code] = d
	}
	if d := codes[judge.ConvergedAtOnce]; m.Meta.Stop != string(host.Converged) || m.Meta.Steps > 1 ||
		!strings.Contains(d.Finding, "nothing left to learn after step 0") || !strings.Contains(d.Advice,
		"too much noise") {
		t.Errorf("%s after %d steps: %+v", m.Meta.Stop, m.Meta.Steps, m.Doubts)
	}
	if d := codes[learners.EndsInDoubt]; !strings.HasPrefix(d.Finding,
		"uma: found no mistake left to correct") || !strings.HasPrefix(d.Advice, "try a smaller alpha") {
		t.Errorf("found %+v", m.Doubts)
	}
	o.From = m.Model
	for _, d := range must(host.Train(context.Background(), data, noise, o)).Doubts {
		if d.Code == judge.ConvergedAtOnce {
			t.Errorf("a training that began with another one's weights: %+v", d)
		}
	}
}
