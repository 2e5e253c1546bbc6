package report

import (
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/judge"
)

// Conclude makes the verdict: does the confusion matrix help, by how much, and on what evidence.
func (r *Report) Conclude() {
	v := Verdict{Numbers: r.headline(), Next: r.next(), Evidence: []string{}}
	j, c := r.Judged, r.Check
	switch {
	case j == nil && r.Noise == nil:
		v.Text = "A model of labels that were taken for right; give data to judge it by."
	case j == nil:
		v.Text = "A model that was told of wrong labels; give data to judge it by, and whether the " +
			"confusion matrix helps."
	case c != nil && c.Verdict == judge.Turned:
		v.Text = "The axes of the confusion matrix are exchanged: turn it, and train again."
	case c != nil && c.Contradicted && c.Verdict != judge.Helps:
		v.Text = "The labels contradict the confusion matrix: do not trust what it says. " +
			r.accuracy() + "."
	case c != nil && c.Verdict == judge.Helps:
		v.Text = fmt.Sprintf("The confusion matrix helps: %s. %s.", gain(c.Accuracy), r.accuracy())
	case c != nil && c.Verdict == judge.Harms:
		v.Text = fmt.Sprintf("The confusion matrix harms: %s. Train without it. %s.", gain(c.Accuracy),
			r.accuracy())
	case c != nil:
		v.Text = fmt.Sprintf("The confusion matrix makes no clear difference: %s. %s.", gain(c.Accuracy),
			r.accuracy())
	default:
		v.Text = r.accuracy() + "."
	}
	if j != nil {
		v.Evidence = append(v.Evidence, j.evidence())
	}
	if c != nil {
		d := c.LogLikelihood
		v.Evidence = append(v.Evidence,
			fmt.Sprintf("With the matrix the logarithm of a noisy label's probability, on examples held "+
				"out, is %+.3f ± %.3f on average.", d.Mean, d.StandardError),
			fmt.Sprintf("The matrix leaves %.1f %% of the labels unexplained (probability of that by "+
				"chance %.2g).", 100*c.Explained.Unexplained, c.Explained.P))
	}
	if r.Noise != nil {
		v.Evidence = append(v.Evidence, "The confusion matrix is "+r.Noise.Source+".")
		switch {
		case r.Noise.Checked > 0:
			v.Evidence = append(v.Evidence, fmt.Sprintf("Of %d rows the right label is known. What is said "+
				"of the others rests on the matrix.", r.Noise.Checked))
		case j != nil && j.Corrected != nil:
			v.Evidence = append(v.Evidence,
				"No right label was used: what is said of right labels rests on the matrix.")
		}
	}
	if r.Issues > 0 && r.Noise == nil {
		v.Evidence = append(v.Evidence, fmt.Sprintf("%d of %d labels differ from what is predicted; "+
			"either may be wrong.", r.Issues, j.Examples))
	} else if r.Issues > 0 {
		v.Evidence = append(v.Evidence, fmt.Sprintf("%d of %d labels are more likely wrong than right.",
			r.Issues, j.Examples))
	}
	r.Verdict = v
}

// gain says how many more examples get their right class.
func gain(d judge.Difference) string {
	what := "more"
	if d.Mean < 0 {
		what = "less"
	}
	return fmt.Sprintf("%.1f ± %.1f points %s are right with it than without", 100*math.Abs(d.Mean),
		100*d.StandardError, what)
}

// accuracy says how many are right.
func (r *Report) accuracy() string {
	j := r.Judged
	switch {
	case j.Corrected != nil:
		a := j.Corrected.Accuracy
		if a.Value < 0 || a.Value > 1 {
			return "How many predictions are right is unknown: the matrix and the labels disagree"
		}
		return fmt.Sprintf("%s of the predictions are right (95 %% interval %s to %s)", percent(a.Value),
			percent(max(0, a.Low)), percent(min(1, a.High)))
	case r.Noise != nil && j.Folds > 0:
		return fmt.Sprintf("%s of the predictions are as the noisy labels say", percent(1-j.ErrorRate))
	}
	return fmt.Sprintf("%s of the predictions are right, if the labels are", percent(1-j.ErrorRate))
}

// evidence says which examples judge.
func (j *Judged) evidence() string {
	if j.Folds > 0 {
		return fmt.Sprintf("%d examples of %s, each judged by one of %d trainings that has not seen it.",
			j.Examples, j.File, j.Folds)
	}
	return fmt.Sprintf("%d examples of %s, judged by the model, which was trained on other data.",
		j.Examples, j.File)
}

// percent prints a share.
func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }
