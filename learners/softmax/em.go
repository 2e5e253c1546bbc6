package softmax

import (
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// softShare is the λ of soft labels in that which a search finds for noisy ones: they have less
// noise to be kept from. A third was best or near it on four sets that people labelled.
const softShare = 1.0 / 3

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
	if c.Fold++; c.Fold == len(c.W) {
		c.Fold, c.Soft, c.Next = 0, c.Next, nil
		c.Round++
	}
	return c.W[c.Fold], c.Round < l.Rounds, nil
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
