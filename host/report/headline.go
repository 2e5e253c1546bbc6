package report

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/uma-gpu/uma-gpu/host/judge"
)

// Number is one of the three that the page begins with: labels, predictions, and what they rest on.
type Number struct {
	Value string `json:"value"`
	What  string `json:"what"`
	Note  string `json:"note"`
}

// unknown is the value of a number that nothing tells.
const unknown = "unknown"

// mostNext is how many rows the page names to check next.
const mostNext = 10

// headline returns how many labels are wrong, how many predictions are right, and what C does for
// them, or which class is the worst.
func (r *Report) headline() []Number {
	labels := Number{unknown, "labels likely wrong", "No data were given to judge by."}
	right := Number{unknown, "predictions right", labels.Note}
	j := r.Judged
	if j == nil {
		return []Number{labels, right, {fmt.Sprint(len(r.Classes)), "classes", "Not judged."}}
	}
	labels.Note = "The predictions have no probabilities."
	if j.Probabilities != nil {
		labels.Value = percent(float64(r.Issues) / float64(max(1, j.Examples)))
		labels.Note = fmt.Sprintf("%d of %d: another class is likelier.", r.Issues, j.Examples)
		if r.Noise == nil { // a prediction that differs may itself be wrong
			labels.What = "labels in doubt"
		}
		if r.Noise == nil && r.CheckNext != nil { // a cleaning that left the labels alone
			labels.Value, labels.What = unknown, "wrong labels"
			labels.Note = "Nothing shows that labels are wrong, so they are left alone."
		}
	}
	if c := j.Corrected; c != nil {
		a := c.Accuracy
		right.Value = percent(possible(a.Value))
		right.Note = fmt.Sprintf("Estimated; 95 %% interval %s to %s.",
			percent(possible(a.Low)), percent(possible(a.High)))
	} else {
		right.Value, right.Note = percent(1-j.ErrorRate), "If the labels are right."
		if r.Noise != nil && j.Folds > 0 {
			right.What, right.Note = "predictions as labelled", "The labels are noisy."
		}
	}
	return []Number{labels, right, r.third()}
}

// third returns what the matrix gains, or else the class that is recognised worst.
func (r *Report) third() Number {
	if c := r.Check; c != nil {
		return Number{fmt.Sprintf("%+.1f", 100*c.Accuracy.Mean), "points by the confusion matrix",
			fmt.Sprintf("± %.1f more are right than without it.",
				100*c.Accuracy.StandardError)}
	}
	worst := Number{unknown, "worst class", "No class has an example."}
	least := math.Inf(1)
	of := func(class string, recall float64) {
		if recall < least {
			least = recall
			worst = Number{percent(possible(recall)), "right of the worst class", class}
		}
	}
	if c := r.Judged.Corrected; c != nil {
		for _, p := range c.PerClass {
			if p.Recall != nil {
				of(p.Class, p.Recall.Value)
			}
		}
		return worst
	}
	for _, p := range r.Judged.PerClass {
		if p.Recall != nil {
			of(p.Class, *p.Recall)
		}
	}
	return worst
}

// next says what to do now, in one line.
func (r *Report) next() string {
	switch c := r.Check; {
	case r.Judged == nil:
		return "Give data to judge the model by."
	case c != nil && c.Contradicted:
		return "Check some rows by hand and count the confusion matrix anew: the labels contradict it."
	case c != nil && c.Verdict == judge.Harms:
		return "Train without the confusion matrix."
	case len(r.CheckNext) > 0:
		var rows []string
		for _, i := range r.CheckNext[:min(mostNext, len(r.CheckNext))] {
			rows = append(rows, strconv.Itoa(i))
		}
		return fmt.Sprintf("Check rows %s by hand, and clean again with their right labels.",
			strings.Join(rows, ", "))
	case r.Issues > 0:
		return fmt.Sprintf("Check the labels below, the first ones first. All %d, and cleaned data, are "+
			"written by: %s", r.Issues, cmp.Or(r.Mending, "uma-gpu issues"))
	case r.Judged.Probabilities == nil:
		return "Train with a learner that gives probabilities, to see which labels are wrong."
	}
	return "Use the model: no label is likelier wrong than right."
}

// possible is an estimated share without what chance added beyond 0 and 1.
func possible(v float64) float64 { return min(1, max(0, v)) }

// count prints a number of examples; an estimate is rounded, and says so.
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
