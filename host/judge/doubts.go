package judge

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/learners"
)

// The codes of doubts that the training has, besides those of learners.
const (
	NegativeError learners.DoubtCode = "negative-error" // no model has the estimated error
	// the confusion matrix does not give such labels
	UnexplainedLabels learners.DoubtCode = "unexplained-labels"
	// some classes have labels, and no predictions
	ClassNotPredicted learners.DoubtCode = "class-not-predicted"
	// hardly anything was learned, and there is more
	ConvergedAtOnce learners.DoubtCode = "converged-at-once"
)

// What makes a doubt worth a word: how improbable labels have to be under C, and what share of
// them C has to leave unexplained.
const (
	doubtful    = 1e-3
	unexplained = 0.01
	mostDoubted = 200 // classes; the time to judge C grows with their third power
)

// Ended is the end of a training as far as doubts depend on it.
type Ended struct {
	Problem        *learners.Problem
	Classes        []string
	D              int                // columns of the weights
	Counts         []int64            // Q×Q, examples by prediction (row) and noisy label
	Inverse        *confusion.Inverse // C⁻¹ of EstimatedError
	EstimatedError float64
	Steps          int
	// it converged after one step at most, though its learner makes many
	AtOnce bool
	Doubts []learners.Doubt // the learner's own
}

// Doubts returns what the training examples say against C or against the result: an estimated
// error that no model can have, labels that C does not explain, classes that are never predicted,
// an end at the first step.
func Doubts(ctx context.Context, r *Ended) ([]learners.Doubt, error) {
	classes, noise, n := r.Classes, r.Problem.Noise, int64(0)
	q := len(classes)
	for _, v := range r.Counts {
		n += v
	}
	if n == 0 {
		return nil, nil
	}
	var all []learners.Doubt
	off := standardError(r, n)
	if noise != nil && r.EstimatedError < -2*off {
		all = append(all, learners.Doubt{Code: NegativeError, Finding: fmt.Sprintf(
			"the estimated error is %.1f %% ± %.1f, and none is below 0: the confusion matrix claims more "+
				"noise than the labels have, or the model has learned labels by "+
				"heart", 100*r.EstimatedError, 100*off), Advice: "try `uma-gpu confusion check`"})
	}
	if noise != nil && q <= mostDoubted {
		d, err := unexplainedLabels(ctx, r, n >= int64(q)*int64(r.D))
		if err != nil {
			return nil, err
		}
		all = append(all, d...)
	}
	if never := neverPredicted(r.Counts, classes); len(never) > 0 {
		all = append(all, learners.Doubt{Code: ClassNotPredicted, Finding: fmt.Sprintf(
			"no example is predicted as %s, though some are labelled so", strings.Join(never, ", ")),
			Advice: "the reason may be too few steps, too large a penalty, or a confusion matrix that " +
				"explains these labels by other classes"})
	}
	if r.AtOnce && math.Abs(r.EstimatedError) > max(unexplained, 2*off) {
		all = append(all, learners.Doubt{Code: ConvergedAtOnce, Finding: fmt.Sprintf(
			"the training found nothing left to learn after step %d, with an estimated error of %.1f "+
				"%%", r.Steps, 100*r.EstimatedError), Advice: atOnceAdvice(noise)})
	}
	return append(all, r.Doubts...), nil
}

func atOnceAdvice(noise *confusion.Matrix) string {
	if noise == nil {
		return "see by `uma-gpu info` whether the features tell classes apart, and prepare them otherwise (--normalize)"
	}
	return "see by `uma-gpu confusion check` whether the confusion matrix claims too much noise, and by `uma-gpu info` " +
		"whether the features tell classes apart"
}

// contradicted says whether an explanation leaves more than chance does.
func contradicted(e *confusion.Explanation) bool {
	return e.P < doubtful && e.Unexplained > unexplained
}

// standardError returns the standard error of the estimated error, over the labels of n examples.
func standardError(r *Ended, n int64) float64 {
	mean, squares := 0.0, 0.0
	for i, v := range r.Counts {
		share := float64(v) / float64(n)
		mean += share * r.Inverse.V[i]
		squares += share * r.Inverse.V[i] * r.Inverse.V[i]
	}
	return math.Sqrt(max(0, squares-mean*mean) / float64(n))
}

// neverPredicted returns the names, quoted, of at most three classes that have labels and no
// predictions, and how many more there are.
func neverPredicted(counts []int64, classes []string) []string {
	q := len(classes)
	var names []string
	more := 0
	for p, name := range classes {
		labelled := int64(0)
		for other := range q {
			labelled += counts[other*q+p]
		}
		row := counts[p*q : (p+1)*q]
		switch {
		case labelled == 0 || slices.Max(row) > 0:
		case len(names) < 3:
			names = append(names, fmt.Sprintf("%q", name))
		default:
			more++
		}
	}
	if more > 0 {
		names = append(names, fmt.Sprintf("%d other classes", more))
	}
	return names
}
