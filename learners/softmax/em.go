package softmax

import (
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// softLambda is n·λ of EM, in units of the mean squared length of an example, unless a λ is
// given. From 0.03 to 0.3 were about as good on four sets that people labelled; no loss on
// examples held out finds it.
const softLambda = 0.1

// settled ends EM when a round changes the likeliest class of at most this share of examples.
const settled = 0.005

// crossing is cross-fitted EM in the middle of a round. The E-step of a round is
//
//	t_i[k]  ∝  P(k | x_i) · P(label y_i | true class k)
//
// with P(k | x_i) by a model that has not seen example i: the examples are in folds, and a fold
// is judged by what was fitted to the others. A model that has seen an example knows its wrong
// label by heart, and EM would only confirm it. The M-step fits the soft labels t.
type crossing struct {
	Round int         // rounds that have ended
	Fold  int         // the fold that is left out of the fit under way
	W     [][]float32 // the weights of each fold's last fit, Q×d; nil before it
	Soft  []float32   // t of the last round, n×Q; empty in the first, which fits the labels through C
	Next  []float32   // t of this round, as far as its folds are done
}

// used says whether the fit under way uses an example.
func (c *crossing) used(fold []uint8) func(i int) bool {
	out := uint8(c.Fold)
	return func(i int) bool { return fold[i] != out }
}

// judgeFold takes the weights of the fit under way, computes t of the examples it has not seen, and
// goes on to the next fold or round. from is where that begins; nil if it is the first of its
// fold.
func (l *run) judgeFold(w []float32) (from []float32, more bool, err error) {
	c := &l.state.Crossing
	if c.Next == nil {
		c.Next = make([]float32, len(l.problem.Y)*l.problem.Q)
	}
	if err := l.expect(c.Next, w, c.Fold); err != nil {
		return nil, false, err
	}
	c.W[c.Fold] = slices.Clone(w)
	more = true
	if c.Fold++; c.Fold == len(c.W) {
		more = c.Round+1 < l.Rounds && !(c.Soft != nil && c.changed(l.problem.Q) <= settled)
		c.Fold, c.Soft, c.Next = 0, c.Next, nil
		c.Round++
	}
	return c.W[c.Fold], more, nil
}

// changed returns the share of examples whose likeliest class is another than a round before.
func (c *crossing) changed(q int) float64 {
	n := 0
	for at := 0; at < len(c.Next); at += q {
		if largest(c.Next[at:at+q]) != largest(c.Soft[at:at+q]) {
			n++
		}
	}
	return float64(n) * float64(q) / float64(len(c.Next))
}

func largest(v []float32) int {
	at := 0
	for k := range v {
		if v[k] > v[at] {
			at = k
		}
	}
	return at
}

// mean returns the mean of the folds' weights, the result: about as good as weights fitted to
// the soft labels of all examples, or better.
func (c *crossing) mean() []float32 {
	w := make([]float32, len(c.W[0]))
	for i := range w {
		sum := 0.0
		for _, fold := range c.W {
			sum += float64(fold[i])
		}
		w[i] = float32(sum / float64(len(c.W)))
	}
	return w
}

// expect writes the E-step of the examples of a fold by weights w to t.
func (l *run) expect(t, w []float32, fold int) error {
	return l.scored(w, fold, func(i int, s []float32) error {
		for k, v := range l.likelihood(i) {
			s[k] += v
		}
		if m, _ := numerics.Softmax(t[i*l.problem.Q:(i+1)*l.problem.Q], s); m-m != 0 {
			return fmt.Errorf("softmax: found scores of example %d that are too large, wanted finite ones", i)
		}
		return nil
	})
}

// soft are the targets of the M-step.
func (c *crossing) soft(weight []float32) engine.Targets {
	return engine.Targets{Values: c.Soft, Given: true, Weight: weight}
}

// check says what no run would have saved, of n examples with q classes and so many weights.
func (c *crossing) check(folds, n, q, size int) error {
	if c.Round < 0 || c.Fold < 0 || c.Fold > 0 && c.Fold >= folds || len(c.W) > folds {
		return fmt.Errorf("round %d, fold %d, weights of %d folds", c.Round, c.Fold, len(c.W))
	}
	for _, w := range c.W {
		if w != nil && len(w) != 0 && len(w) != size {
			return fmt.Errorf("found %d weights of a fold, wanted %d", len(w), size)
		}
	}
	for _, t := range [][]float32{c.Soft, c.Next} {
		if len(t) != 0 && len(t) != n*q {
			return fmt.Errorf("found %d soft labels, wanted %d", len(t), n*q)
		}
		for _, v := range t {
			if !(v >= 0 && v <= 1.0001) {
				return fmt.Errorf("found a soft label %v, wanted 0 to 1", v)
			}
		}
	}
	return nil
}
