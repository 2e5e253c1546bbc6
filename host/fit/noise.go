package fit

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	budget "github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

// What is known of a confusion matrix before any label: that one is right more often than it is
// any other. It counts as examples of each class.
const (
	rightBefore = 0.6
	countBefore = 1
)

// shrink is as how many labels of each class, given by the mean annotator, an annotator's own
// labels are joined by: most have given few.
const shrink = 2

// inner is how often the matrices are re-estimated from the same probabilities. That problem is
// concave, and need not be solved to its end before the probabilities change.
const inner = 5

// Learning ends after learningRounds, or when a round moves less than settled of the
// probability of a true class' labels, on average. Its fits are short, as each continues from
// the one of the round before.
const (
	learningRounds     = 100
	settled            = 0.0002
	learningIterations = 25
)

// crowdLambda is the penalty of these fits, in the units of a search for one, which is only
// possible when the noise is known. Annotators tell how they are wrong by where they differ, and
// too sure a model of few examples only spoils that.
const crowdLambda = 1e-3

// labelNoise learns how labels came about: a matrix of each annotator, A[k][t] = P(label k | true
// class t), Raykar et al., Learning from crowds, JMLR 11 (2010), Section 2.3. Here the
// probabilities of the true classes are out-of-fold.
type labelNoise struct {
	q      int
	labels *dataset.Annotations
	y      []int32   // the votes, which the learned matrix is of
	anchor []float64 // Q×Q: what counts beside the labels of the mean annotator
	state  learnedNoise
}

// learnedNoise is what labelNoise has found.
type learnedNoise struct {
	Matrices []float64 // A of each annotator, one after the other
	// Over the examples with label k of y: sums of the posteriors of class t, and of their
	// squares, Q×Q each. They are 0 before the first round.
	Sums, Squares []float64
}

// newNoise returns nil if nothing is to be learned of the noise.
func newNoise(p *softmax.Params, problem *learners.Problem) (*labelNoise, error) {
	if problem.Annotations == nil {
		return nil, nil
	}
	if err := p.CheckAnnotations(); err != nil {
		return nil, err
	}
	q := problem.Q
	n := &labelNoise{q: q, labels: problem.Annotations, y: problem.Y}
	n.anchor = make([]float64, q*q)
	for k := range n.anchor {
		n.anchor[k] = countBefore * (1 - rightBefore) / float64(q)
		if k%q == k/q {
			n.anchor[k] += countBefore * rightBefore
		}
	}
	count := len(n.labels.Names)
	what := fmt.Sprintf("confusion matrices of %d annotators and %d classes", count, q)
	if err := budget.Check(budget.Product(q, q, count, 8*4), what); err != nil {
		return nil, err
	}
	n.begin()
	return n, nil
}

// begin enters what is known before the first round: of annotators how often each agrees with the
// others' votes. If the classes of some examples are known, those alone count: votes may be wrong
// in a way that no round gets out of.
func (n *labelNoise) begin() {
	v := learnedNoise{Sums: make([]float64, n.q*n.q), Squares: make([]float64, n.q*n.q)}
	shares := make([]float32, len(n.y)*n.q)
	for i := range n.y {
		if class, known := n.labels.Known(i); known {
			shares[i*n.q+int(class)] = 1
		}
		if n.labels.Right != nil {
			continue
		}
		_, labels := n.labels.Of(i)
		for _, k := range labels {
			shares[i*n.q+int(k)] += 1 / float32(len(labels))
		}
	}
	n.count(&v, shares)
	clear(v.Sums)
	clear(v.Squares)
	n.state = v
}

// count is the M-step: it finds the matrices, of expected true classes t, n×Q. Annotators whose
// labels are right say nothing of the mean one.
func (n *labelNoise) count(v *learnedNoise, t []float32) {
	q := n.q
	all := make([]float64, len(n.labels.Names)*q*q)
	clear(v.Sums)
	clear(v.Squares)
	for i, y := range n.y {
		row := t[i*q : (i+1)*q]
		by, label := n.labels.Of(i)
		for a, k := range label {
			if n.right(int(by[a])) {
				continue
			}
			to := all[(int(by[a])*q+int(k))*q:][:q]
			for c, f := range row {
				to[c] += float64(f)
			}
		}
		sums, squares := v.Sums[int(y)*q:][:q], v.Squares[int(y)*q:][:q]
		for c, f := range row {
			sums[c] += float64(f)
			squares[c] += float64(f) * float64(f) // exact, so that fused or not is the same
		}
	}
	mean := slices.Clone(n.anchor)
	for k, f := range all {
		mean[k%(q*q)] += f
	}
	normalise(mean, q)
	for k := range all {
		all[k] += float64(shrink * mean[k%(q*q)])
	}
	for a := range n.labels.Names {
		own := all[a*q*q : (a+1)*q*q]
		if n.right(a) {
			clear(own)
			for t := range q {
				own[t*q+t] = 1
			}
		}
		normalise(own, q)
	}
	v.Matrices = all
}

// right says whether all labels of an annotator are.
func (n *labelNoise) right(a int) bool { return n.labels.Right != nil && n.labels.Right[a] }

// normalise makes the columns of a q×q matrix sum to 1.
func normalise(a []float64, q int) {
	for t := range q {
		sum := 0.0
		for k := range q {
			sum += a[k*q+t]
		}
		for k := range q {
			a[k*q+t] /= sum
		}
	}
}

// evidence returns the logarithms of how likely the labels are with each true class, n×Q, the
// largest in a row being 0.
func (n *labelNoise) evidence(matrices []float64) []float32 {
	q := n.q
	logs := make([]float32, len(matrices))
	for from := 0; from < len(matrices); from += q * q {
		copy(logs[from:], learners.LogRows(matrices[from:from+q*q], q))
	}
	e := make([]float32, len(n.y)*q)
	parallel.Ranges(len(n.y), 1<<10, func(from, to int) {
		sum := make([]float64, q)
		for i := from; i < to; i++ {
			clear(sum)
			by, label := n.labels.Of(i)
			for a, k := range label {
				for c, f := range logs[(int(by[a])*q+int(k))*q:][:q] {
					sum[c] += float64(f)
				}
			}
			most := slices.Max(sum)
			for c, f := range sum {
				e[i*q+c] = float32(f - most)
			}
		}
	})
	return e
}

// aim sets the targets and the evidence of l from the matrices learned so far.
func (n *labelNoise) aim(l *learners.Labels) {
	l.Evidence, l.PerExample = n.evidence(n.state.Matrices), true
	l.Targets = engine.Targets{Values: l.Evidence}
}

// learn takes over what another run has learned.
func (n *labelNoise) learn(v learnedNoise, l *learners.Labels) {
	n.state = v
	n.aim(l)
}

// learnNoise learns the noise in rounds of fits, each without one fold, and returns where the next
// fit begins.
func learnNoise(ctx context.Context, r *training, w []float32) ([]float32, error) {
	r.stage, r.lambda = learning, r.penalty
	count := foldsOf(r)
	s, ok, err := recall[rounds](&r.memo, "noise")
	if err != nil {
		return nil, err
	}
	if ok {
		r.noise.learn(s.Noise, &r.solver.Labels)
	} else {
		s.W = make([]softmax.Floats, count)
	}
	g := softmax.Goal{Held: deal(r, count), Lambda: r.penalty,
		Most: min(roughly(r), learningIterations), Share: r.Tolerance}
	for !s.Ended {
		g.Targets = r.solver.Labels.Targets
		var scores []float32
		s.W, scores, err = crossFit(ctx, r, fmt.Sprintf("noise/%d", s.Made), g, w, s.W, nil)
		if err != nil {
			return nil, err
		}
		still, err := relearn(r, scores)
		if err != nil {
			return nil, err
		}
		s.Made++
		s.Noise, s.Ended = r.noise.state, !r.onward(!still && s.Made < learningRounds)
		if err := r.memo.keep("noise", s); err != nil {
			return nil, err
		}
	}
	return s.W[0], nil
}

// relearn re-estimates the matrices by scores of models that have not seen the example, n×Q, and
// reports whether they have settled.
func relearn(r *training, scores []float32) (bool, error) {
	n := r.noise
	before := n.learned()
	t := make([]float32, len(scores))
	for range inner {
		copy(t, scores)
		if err := probabilities(r, t); err != nil {
			return false, err
		}
		n.count(&n.state, t)
		n.aim(&r.solver.Labels)
	}
	r.solver.State.Curved = softmax.Curved{}
	moved := 0.0
	for k, v := range n.learned() {
		moved += math.Abs(v - before[k])
	}
	return moved/float64(2*r.problem.Q) < settled, nil
}

// learned returns the matrix of the labels y.
func (n *labelNoise) learned() []float64 {
	c := slices.Clone(n.anchor)
	for k, f := range n.state.Sums {
		c[k] += f
	}
	normalise(c, n.q)
	return c
}

// found returns the learned matrix. An entry's standard error is the standard error of a proportion
// of N examples, where each counts by how sure its true class is: by Louis' principle the
// information about A[k][t] is Σ t_i² / A² instead of Σ t_i / A², its value if true classes were
// known.
func (n *labelNoise) found() *confusion.Learned {
	q, v := n.q, &n.state
	r := &confusion.Learned{P: n.learned(), Error: make([]float64, q*q)}
	for t := range q {
		count := 0.0
		for k := range q {
			count += v.Sums[k*q+t] + n.anchor[k*q+t]
		}
		for k := range q {
			at := k*q + t
			// anchors are above 0
			blur := (v.Sums[at] + n.anchor[at]) / (v.Squares[at] + n.anchor[at])
			r.Error[at] = math.Sqrt(float64(r.P[at]*(1-r.P[at])) * blur / count)
		}
	}
	counts := n.labels.Counts()
	for a, name := range n.labels.Names {
		r.Annotators = append(r.Annotators, confusion.Annotator{Name: name, Labels: counts[a],
			P: slices.Clone(v.Matrices[a*q*q : (a+1)*q*q])})
	}
	return r
}
