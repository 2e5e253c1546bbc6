package learners

import (
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// What is known of an example may be a set of candidate classes S, or a distribution f over
// classes, through C if there is one. The loss of a set is, as for annotators, by the likelihood of
// each class t,
//
//	-log Σ_t p_t Σ_{k in S} C[k][t],
//
// and EM has the posterior of that (Jin & Ghahramani, Learning with multiple labels, NIPS 2002; of
// complementary labels, Ishida et al., NIPS 2017, S is all but one). Of a distribution over right
// classes the loss is -Σ_k f_k log p_k. Through C it has no such form: EM has the posteriors of
// each label k, f_k of each, and backward correction, which is linear, the mean of the rows of C⁻¹.

// Corrections: what is done about wrong labels.
const (
	Forward  = "forward"  // C turns probabilities into probabilities of noisy labels
	EM       = "em"       // rounds of soft labels, by C and models that have not seen them
	Backward = "backward" // the losses of all classes, times C⁻¹, are right on average
	None     = "none"     // labels count as right
)

// Correcting is what a learner does about wrong labels.
type Correcting struct {
	Learner      string // its name, for errors
	Correction   string
	ClassWeights ClassWeights
}

// Labels is the evidence on all examples' labels.
type Labels struct {
	Targets    engine.Targets
	Evidence   []float32 // log C, Q×Q: row k for label k; n×Q if PerExample
	Classes    []float32 // what is known of the classes, n×Q; nil if each example has one
	PerExample bool      // Evidence has a row for each example, in place of each label
	y          []int32
}

// NewLabels returns the evidence of a problem's labels for a correction. Errors: see CheckEvidence;
// and if C has no inverse for backward correction.
func NewLabels(p Correcting, problem *Problem) (l Labels, err error) {
	if err = p.CheckEvidence(problem); err != nil {
		return l, err
	}
	c := p.Confusion(problem)
	l.y, l.Classes = problem.Y, classesOf(problem)
	if l.PerExample = l.Classes != nil; l.PerExample {
		l.Evidence = logsOf(l.Classes, c, problem.Q)
	} else {
		l.Evidence = LogRows(c, problem.Q)
	}
	l.Targets, err = newTargets(p, problem)
	return l, err
}

// Likelihood returns the logarithms of how likely the label of example i is, or its labels are,
// with each of q classes.
func (l *Labels) Likelihood(i, q int) []float32 {
	row := i
	if !l.PerExample {
		row = int(l.y[i])
	}
	return l.Evidence[row*q : (row+1)*q]
}

// newTargets makes the targets of the noisy labels by a correction (clause 16).
func newTargets(p Correcting, problem *Problem) (t engine.Targets, err error) {
	q, c := problem.Q, p.Confusion(problem)
	t = engine.Targets{Row: problem.Y, Given: p.Correction == Backward}
	most, weights := 1.0, slices.Repeat([]float64{1}, q) // of the labels
	if t.Given {
		t.Values, most, err = p.backward(c, q)
	} else {
		t.Values = LogRows(c, q)
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
	if err != nil || p.ClassWeights != Balanced && scale == 1 && own == nil {
		return t, err
	}
	if p.ClassWeights == Balanced {
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

// Confusion returns the confusion matrix of the examples of a problem as they count.
func (p Correcting) Confusion(problem *Problem) []float64 {
	c := confusion.NoNoise(problem.Q).V
	if p.Correction != None && problem.Noise != nil {
		c = problem.Noise.P
	}
	if p.ClassWeights == Balanced {
		c = reweighted(c, balanced(problem), problem.Q)
	}
	return c
}

// classesOf returns what is known of classes, n×Q; nil if each example has one.
func classesOf(problem *Problem) []float32 {
	if problem.Evidence == nil {
		return nil
	}
	return problem.Evidence.Classes
}

// CheckEvidence returns an error if the correction cannot learn from what is known.
func (p Correcting) CheckEvidence(problem *Problem) error {
	if problem.Evidence == nil {
		return nil
	}
	switch {
	case problem.Annotations != nil:
		return p.wrong("annotators", "annotators of examples of several classes, or of weights that are "+
			"not whole", "one class of each, of a whole weight")
	case problem.Evidence.Classes == nil:
		return nil
	case p.ClassWeights != Equal:
		return p.wrong("class_weights", string(p.ClassWeights)+" with several classes of an example",
			string(Equal))
	}
	sets, _, distributions := problem.Evidence.Sets(problem.Q)
	switch {
	case p.Correction == EM:
	case sets > 0 && p.Correction == Backward:
		return p.wrong("correction", "backward with candidate classes", "forward or em")
	case sets > 0 && distributions > 0:
		return p.wrong("correction", p.Correction+" with candidate classes and probabilities", "em")
	case distributions > 0 && p.Correction == Forward && problem.Noise != nil:
		return p.wrong("correction", "forward with probabilities and a confusion matrix",
			"em or backward, or none if the probabilities are of true classes")
	}
	return nil
}

func (p Correcting) wrong(parameter, got, want string) error {
	return &ParameterError{Learner: p.Learner, Parameter: parameter, Got: got, Want: want}
}

// logsOf returns the logarithms of how likely what is known of each example is with each true
// class, n×Q.
func logsOf(known []float32, c []float64, q int) []float32 {
	likely := make([]float64, len(known))
	for i := range len(known) / q {
		row := likely[i*q : (i+1)*q]
		for k, f := range known[i*q : (i+1)*q] {
			if f == 0 {
				continue
			}
			for t := range row {
				row[t] += float64(float64(f) * c[k*q+t])
			}
		}
	}
	return LogRows(likely, q)
}

// mixed returns, for each example, the mean of the rows of values of its labels: n×Q.
func mixed(known, values []float32, q int) []float32 {
	all := make([]float32, len(known))
	for i := range len(known) / q {
		row, sums, total := known[i*q:(i+1)*q], make([]float64, q), 0.0
		for k, f := range row {
			total += float64(f)
			for r := range sums {
				sums[r] += float64(f) * float64(values[k*q+r]) // exact but for the sum
			}
		}
		for r, v := range sums {
			all[i*q+r] = float32(v / total)
		}
	}
	return all
}

// LogRows returns the logarithms of rows of q likelihoods: log C of C, whose row k says how likely
// label k is with each true class.
func LogRows(c []float64, q int) []float32 {
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
func (p Correcting) backward(c []float64, q int) ([]float32, float64, error) {
	inverse, ok := numerics.Inverse(c, q)
	if !ok {
		return nil, 0, fmt.Errorf("%s: backward correction: found a confusion matrix that has "+
			"no inverse, wanted one that has; use forward correction, or check the matrix", p.Learner)
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
func balanced(problem *Problem) []float64 {
	counts := counts(problem)
	w := Balanced.Of(problem.Weight(), counts)
	for k, n := range counts {
		if n == 0 {
			w[k] = 0
		}
	}
	return w
}

// counts returns how many examples have each label, by weight.
func counts(problem *Problem) []float64 {
	e := problem.Evidence
	if e == nil || e.Weight == nil {
		return CountLabels(problem.Y, problem.Q)
	}
	counts := make([]float64, problem.Q)
	for i, k := range problem.Y {
		counts[k] += e.Weight[i]
	}
	return counts
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
