package softmax

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// cleaned are labels that count as right, and how much. They come from the posteriors of the
// true classes that models give which have not seen the example, and C:
//
//	Prune     of the labels y, as many as should be of class t are left out for it: those under
//	          which t is likelier than y by most (the rule of Northcutt, Jiang & Chuang, Confident
//	          learning, JAIR 70 (2021), Section 3.3, by noise rate, with the posteriors' sums
//	          for their count, which has to do without C)
//	Reweight  P(x, true class y) / P(x, label y) weighs the loss of y (Liu & Tao, Classification
//	          with noisy labels by importance reweighting, TPAMI 38 (2016), Theorem 1)
//	Relabel   the likeliest class
type cleaned struct {
	Row    []int32   // class of each example; empty for the labels as they are
	Weight []float32 // 0 to 1 of each example; nil before the labels are clean
}

// targets are those of a fit to labels that count as right.
func (c *cleaned) targets(row []int32, q int) engine.Targets {
	if c.Row != nil {
		row = c.Row
	}
	return engine.Targets{Values: forward(identity(q), q), Row: row, Weight: c.Weight}
}

// clean goes on to the fit to clean labels, by the posteriors of the last round.
func (l *run) clean() error {
	q, t := l.problem.Q, l.state.Crossing.Soft
	c := cleaned{Weight: slices.Repeat([]float32{1}, len(l.problem.Y))}
	if l.targets.Weight != nil {
		copy(c.Weight, l.targets.Weight)
	}
	switch l.Clean {
	case Prune:
		for _, i := range expectedWrong(l.problem.Y, t, q) {
			c.Weight[i] = 0
		}
	case Reweight:
		logs := l.evidence
		if l.noise != nil && l.noise.crowd {
			logs = forward(l.noise.learned(&l.state.Noise), q)
		}
		right := rightShares(logs, q)
		for i, y := range l.problem.Y {
			c.Weight[i] *= right[y] * min(1, t[i*q+int(y)])
		}
	case Relabel:
		c.Row = make([]int32, len(l.problem.Y))
		for i := range c.Row {
			c.Row[i] = int32(largest(t[i*q : (i+1)*q]))
		}
	}
	if slices.Max(c.Weight) == 0 {
		return errors.New("softmax: found no label that counts after cleaning, wanted at least one; " +
			"check the confusion matrix, or train without cleaning")
	}
	l.state.Crossing, l.state.Cleaned, l.state.Curved = crossing{}, c, curved{}
	l.enter(fitting, l.state.Search.Lambda)
	return nil
}

// expectedWrong returns the examples that are left out: for each pair of a label y and another
// class, as many of label y as have the other by the posteriors t, n×Q, added up; those first in
// which the other is likelier than y by most.
func expectedWrong(labels []int32, t []float32, q int) []int {
	of, wrong := make([][]int, q), []int(nil)
	for i, y := range labels {
		of[y] = append(of[y], i)
	}
	for y, examples := range of {
		for other := range q {
			if other == y {
				continue
			}
			sum := 0.0
			for _, i := range examples {
				sum += float64(t[i*q+other])
			}
			slices.SortStableFunc(examples, func(a, b int) int {
				return cmp.Compare(t[b*q+other]-t[b*q+y], t[a*q+other]-t[a*q+y])
			})
			wrong = append(wrong, examples[:min(len(examples), int(math.Round(sum)))]...)
		}
	}
	return wrong
}

// leastRight bounds what the label of a class that is hardly ever right weighs.
const leastRight = 0.05

// rightShares returns for each label the least C[k][k] of all over its own: what the posterior
// of the label is multiplied by to become a weight of at most 1. logs are those of C, Q×Q.
func rightShares(logs []float32, q int) []float32 {
	shares, least := make([]float32, q), float32(1)
	for k := range q {
		shares[k] = max(leastRight, numerics.Exp(logs[k*q+k]))
		least = min(least, shares[k])
	}
	for k, v := range shares {
		shares[k] = least / v
	}
	return shares
}
