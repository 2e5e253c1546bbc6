package softmax

import (
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/fold"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/learners"
)

// labels is the evidence on all examples' labels.
type labels struct {
	targets    engine.Targets
	evidence   []float32 // log C, Q×Q: row k for label k; n×Q if perExample
	classes    []float32 // what is known of the classes, n×Q; nil if each example has one
	perExample bool      // evidence has a row for each example, in place of each label
	y          []int32
}

func newLabels(p *Params, problem *learners.Problem) (l labels, err error) {
	c := confusionOf(p, problem)
	l.y, l.classes = problem.Y, classesOf(problem)
	if l.perExample = l.classes != nil; l.perExample {
		l.evidence = logsOf(l.classes, c, problem.Q)
	} else {
		l.evidence = logRows(c, problem.Q)
	}
	l.targets, err = newTargets(p, problem)
	return l, err
}

// likelihood returns the logarithms of how likely the label of example i is, or its labels are,
// with each of q classes.
func (l *labels) likelihood(i, q int) []float32 {
	row := i
	if !l.perExample {
		row = int(l.y[i])
	}
	return l.evidence[row*q : (row+1)*q]
}

// informs returns what a label says about the q classes in a fit of targets t.
func (l *labels) informs(t engine.Targets, q int) informant {
	f := informant{q: q, weight: t.Weight}
	if !t.Given && !l.perExample {
		f.c = make([]float64, q*q)
		for k, v := range l.evidence {
			f.c[k] = float64(numerics.Exp(v))
		}
	}
	return f
}

// newTargets makes the targets of the noisy labels by a correction (clause 16).
func newTargets(p *Params, problem *learners.Problem) (t engine.Targets, err error) {
	q, c := problem.Q, confusionOf(p, problem)
	t = engine.Targets{Row: problem.Y, Given: p.Correction == Backward}
	most, weights := 1.0, slices.Repeat([]float64{1}, q) // of the labels
	if t.Given {
		t.Values, most, err = backward(c, q)
	} else {
		t.Values = logRows(c, q)
	}
	if known := classesOf(problem); known != nil && err == nil {
		t.Row = nil
		sets, _, distributions := problem.Evidence.Sets(q)
		switch {
		case t.Given:
			t.Values = mixed(known, t.Values, q)
		case distributions > 0 && sets == 0 && p.Correction != EM:
			t.Values, t.Given = known, true
		default:
			t.Values = logsOf(known, c, q)
		}
	}
	// The engine takes weights of at most 1 that keep residuals below 1.
	scale := 1.0
	for scale*most > 1 {
		scale /= 2
	}
	var own []float64
	if problem.Evidence != nil {
		own = problem.Evidence.Weight
	}
	if err != nil || p.ClassWeights != learners.Balanced && scale == 1 && own == nil {
		return t, err
	}
	if p.ClassWeights == learners.Balanced {
		weights = balanced(problem)
	}
	largest := max(1, slices.Max(weights))
	for i, y := range problem.Y {
		u := scale * (weights[y] / largest)
		if own != nil {
			u *= own[i] / slices.Max(own)
		}
		t.Weight = append(t.Weight, float32(u))
	}
	return t, nil
}

// confusionOf returns the confusion matrix of the examples as they count.
func confusionOf(p *Params, problem *learners.Problem) []float64 {
	c := confusion.NoNoise(problem.Q).V
	if p.Correction != None && problem.Noise != nil {
		c = problem.Noise.P
	}
	if p.ClassWeights == learners.Balanced {
		c = reweighted(c, balanced(problem), problem.Q)
	}
	return c
}

// logRows returns the logarithms of rows of q likelihoods: log C of C, whose row k says how likely
// label k is with each true class.
func logRows(c []float64, q int) []float32 {
	l := make([]float32, len(c))
	for k, v := range c {
		l[k] = float32(math.Inf(-1))
		if f := float32(v); f >= 0x1p-126 {
			l[k] = numerics.Log(f)
		}
	}
	for k := range len(c) / q { // what C says cannot be: what it is taken for must not matter much
		row := l[k*q : (k+1)*q]
		if math.IsInf(float64(slices.Max(row)), -1) {
			clear(row)
		}
	}
	return l
}

// backward returns the columns of C⁻¹ as rows, whose row k says how much the loss of each class
// counts for label k, and the largest size of a residual.
func backward(c []float64, q int) ([]float32, float64, error) {
	inverse, ok := numerics.Inverse(c, q)
	if !ok {
		return nil, 0, fmt.Errorf("softmax: backward correction: found a confusion matrix that has no " +
			"inverse, wanted one that has; use forward correction, or check the matrix")
	}
	t := make([]float32, q*q)
	most := 1.0
	for k := range q {
		for r := range q {
			v := inverse[r*q+k]
			t[k*q+r] = float32(v)
			most = max(most, v, 1-v)
		}
	}
	return t, most, nil
}

// balanced returns the weights of the labels, n/(Q·n_k); 0 for a label without an example.
func balanced(problem *learners.Problem) []float64 {
	counts := counts(problem)
	w := learners.Balanced.Of(count(problem), counts)
	for k, n := range counts {
		if n == 0 {
			w[k] = 0
		}
	}
	return w
}

// reweighted returns the confusion matrix of examples that count by their noisy label: column t
// of C, each entry times the weight of its label, again of the sum 1.
func reweighted(c, weights []float64, q int) []float64 {
	r := make([]float64, q*q)
	for t := range q {
		sum := 0.0
		for k := range q {
			r[k*q+t] = weights[k] * c[k*q+t]
			sum += float64(r[k*q+t])
		}
		if sum == 0 {
			continue
		}
		for k := range q {
			r[k*q+t] /= sum
		}
	}
	return r
}

// stream keeps this package's random numbers apart from others of the same seed.
const stream = 0x736f66746d6178 // "softmax"

// deal returns the fold of each example of a problem.
func deal(problem *learners.Problem, count int, seed uint64) []int {
	return fold.Draw(problem.Y, problem.Q, count, seed, stream)
}
