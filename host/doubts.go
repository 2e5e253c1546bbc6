package host

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/confusion"
)

// What makes a doubt worth a word: how improbable labels have to be under C, and what share of
// them C has to leave unexplained.
const (
	doubtful    = 1e-3
	unexplained = 0.01
	mostDoubted = 200 // classes; the time to judge C grows with their third power
)

// doubts returns what the training examples themselves say against C or against the result, in
// sentences for the user: an estimated error that no model can have, labels that C does not
// explain, classes that are never predicted.
func doubts(r *Result, noise *confusion.Matrix, classes []string, d int) []string {
	q, n := len(classes), int64(0)
	for _, v := range r.Counts {
		n += v
	}
	if n == 0 {
		return nil
	}
	var all []string
	if off := standardError(r, n); noise != nil && r.EstimatedError < -2*off {
		all = append(all, fmt.Sprintf("the estimated error is %.1f %% ± %.1f, and none is below 0: the confusion matrix "+
			"claims more noise than the labels have, or the model has learned labels by heart; try `uma-gpu confusion check`",
			100*r.EstimatedError, 100*off))
	}
	// A class with fewer examples than features can be learned by heart, which looks like less noise.
	if noise != nil && q <= mostDoubted && n >= int64(q)*int64(d) {
		e := noise.Explain(r.Counts)
		if w := e.Worst; contradicted(&e) {
			all = append(all, fmt.Sprintf("the confusion matrix does not explain %.1f %% of the labels: of the examples "+
				"predicted as %q, %.0f are labelled %q, and %.0f by the matrix at its best; is it of other labels, is it turned "+
				"(rows for columns), does it claim too much or too little noise? Try `uma-gpu confusion check`",
				100*e.Unexplained, classes[w.Predicted], w.Found, classes[w.Label], w.Explained))
		}
	}
	if never := neverPredicted(r.Counts, classes); len(never) > 0 {
		all = append(all, fmt.Sprintf("no example is predicted as %s, though some are labelled so; too few steps, too "+
			"large a penalty, or a confusion matrix that explains these labels by other classes", strings.Join(never, ", ")))
	}
	return all
}

// contradicted says whether an explanation leaves more than chance does.
func contradicted(e *confusion.Explanation) bool {
	return e.P < doubtful && e.Unexplained > unexplained
}

// standardError returns that of the estimated error, over labels of n examples.
func standardError(r *Result, n int64) float64 {
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
