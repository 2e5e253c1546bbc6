package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/judge"
)

// Number is one of the three large numbers at the top of the page.
type Number struct {
	Value string `json:"value"`
	What  string `json:"what"`
	Note  string `json:"note"`
}

// unknown is the value of a number that cannot be estimated.
const unknown = "unknown"

// mostNext is how many rows to check next the page lists.
const mostNext = 10

// headline returns the share of wrong labels, the share of right predictions, and the gain by C, or
// else the worst class.
func (r *Report) headline() []Number {
	labels := Number{unknown, "labels likely wrong", "The predictions have no probabilities."}
	right, j := Number{What: "predictions right"}, r.Judged
	if j.Probabilities != nil {
		labels.Value = percent(float64(r.Issues) / float64(max(1, j.Examples)))
		labels.Note = fmt.Sprintf("%d of %d: another class is likelier.", r.Issues, j.Examples)
		if r.Noise == nil { // the prediction may be the wrong one
			labels.What = "labels in doubt"
		}
	}
	if c := r.Cleaned; c != nil {
		labels = Number{percent(c.Wrong.Value), "labels likely wrong",
			fmt.Sprintf("%s; %d corrected.", c.Wrong.Percent(), c.Corrected)}
		right.Value = percent(c.Right().Value)
		right.Note = fmt.Sprintf("%s, %s.", c.Right().Percent(), c.Basis())
		return []Number{labels, right, r.third()}
	}
	if c := j.Corrected; c != nil && (c.Accuracy.Low > 1 || c.Accuracy.High < 0) {
		right.Note = "The matrix and the labels disagree."
	} else if c != nil {
		a := c.Accuracy
		right.Value = percent(possible(a.Value))
		right.Note = fmt.Sprintf("Estimated; 95 %% interval %s to %s.",
			percent(possible(a.Low)), percent(possible(a.High)))
	} else {
		right.Value, right.Note = percent(1-j.ErrorRate), "If the labels are right."
		if r.Noise != nil && j.Folds > 0 {
			right.What, right.Note = "predictions agree with labels", "The labels are noisy."
		}
	}
	return []Number{labels, right, r.third()}
}

// third returns the gain by the matrix, or else the class with the lowest recall.
func (r *Report) third() Number {
	if c := r.Check; c != nil {
		return Number{fmt.Sprintf("%+.1f", 100*c.Accuracy.Mean), "points by the confusion matrix",
			fmt.Sprintf("± %.1f, compared with training without it.", 100*c.Accuracy.StandardError)}
	}
	worst := Number{unknown, "worst class", "No class has an example."}
	least := math.Inf(1)
	consider := func(class string, recall float64) {
		if recall < least {
			least = recall
			worst = Number{percent(possible(recall)), "recall of the worst class", class}
		}
	}
	if c := r.Judged.Corrected; c != nil {
		for _, p := range c.PerClass {
			if p.Recall != nil {
				consider(p.Class, p.Recall.Value)
			}
		}
		return worst
	}
	for _, p := range r.Judged.PerClass {
		if p.Recall != nil {
			consider(p.Class, *p.Recall)
		}
	}
	return worst
}

// next returns the next step for the user, in one line, and its code, if any.
func (r *Report) next() (step, command string) {
	switch c := r.Check; {
	case c != nil && c.Contradicted:
		return "Check some rows by hand and estimate C again: the labels contradict it.", ""
	case c != nil && c.Verdict == judge.Harms:
		return "Train without the confusion matrix.", ""
	case len(r.CheckNext) > 0:
		where := ""
		if r.Review != "" {
			where = " in " + r.Review
		}
		return fmt.Sprintf("Check rows %s by hand%s, then run this with their right labels:",
			strings.Join(r.CheckNext[:min(mostNext, len(r.CheckNext))], ", "), where), r.NextCommand
	case r.Issues > 0 && r.NextCommand != "":
		return fmt.Sprintf("Check the labels below, from the top. To list all %d and clean data, run:",
			r.Issues), r.NextCommand
	case r.Issues > 0:
		return "Check the labels below, from the top.", ""
	case r.Judged.Probabilities == nil:
		return "Train a learner that predicts probabilities to find wrong labels.", ""
	}
	return "Use the model: no label is more likely wrong than right.", ""
}

// possible clamps an estimated share to [0, 1].
func possible(v float64) float64 { return min(1, max(0, v)) }

// count formats a number of examples; an estimate is rounded and marked as such.
func count(v float64) string {
	whole := math.Round(v)
	switch {
	case v == whole:
		return fmt.Sprintf("%.0f", v)
	case whole < 1:
		return "fewer than 1"
	}
	return fmt.Sprintf("about %.0f", whole)
}
