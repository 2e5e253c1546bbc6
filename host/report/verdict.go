package report

import (
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/judge"
)

// Conclude sets the verdict: whether the confusion matrix helps, by how much, and the evidence.
func (r *Report) Conclude() {
	v := Verdict{Numbers: r.headline(), Evidence: []string{}}
	v.Next, v.Command = r.next()
	j, c := r.Judged, r.Check
	switch {
	case c != nil && c.Verdict == judge.Turned:
		v.Text = "The axes of the confusion matrix are exchanged: transpose it and train again."
	case c != nil && c.Contradicted && c.Verdict != judge.Helps:
		v.Text = "The labels contradict the confusion matrix, so estimates by it are unreliable. " +
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
	v.Evidence = append(v.Evidence, j.evidence())
	if c != nil {
		d := c.LogLikelihood
		v.Evidence = append(v.Evidence,
			fmt.Sprintf("The matrix changes the mean log-likelihood of a held-out noisy label by %+.3f ± "+
				"%.3f.", d.Mean, d.StandardError),
			fmt.Sprintf("The matrix leaves %.1f %% of the labels unexplained (p = %.2g).",
				100*c.Explained.Unexplained, c.Explained.P))
	}
	if r.Noise != nil {
		v.Evidence = append(v.Evidence, "The confusion matrix was "+r.Noise.Source+".")
		switch {
		case r.Noise.Checked > 0:
			v.Evidence = append(v.Evidence, fmt.Sprintf("The right labels of %d rows are known; for other "+
				"rows the estimates rest on the matrix.", r.Noise.Checked))
		case j.Corrected != nil:
			v.Evidence = append(v.Evidence,
				"No right label was used: estimates of right labels rest on the matrix.")
		}
	}
	if c := r.Cleaned; c != nil {
		v.Evidence = append(v.Evidence, "Evidence of wrong labels: "+c.Evidence+".")
		if text := Identify(c.NotIdentified, c.ToIdentify); text != "" {
			v.Evidence = append(v.Evidence, "Not identified: "+text+".")
		}
	}
	if r.Issues > 0 && r.Noise == nil {
		v.Evidence = append(v.Evidence, fmt.Sprintf("%d of %d labels differ from the prediction; either "+
			"may be wrong.", r.Issues, j.Examples))
	} else if r.Issues > 0 {
		text := fmt.Sprintf("%d of %d labels are more likely wrong than right", r.Issues, j.Examples)
		if c := r.Cleaned; c != nil && c.Corrected < r.Issues {
			text += fmt.Sprintf("; %d are changed, as the others have no likelier class", c.Corrected)
		}
		v.Evidence = append(v.Evidence, text+".")
	}
	r.Verdict = v
}

// gain describes the change in accuracy.
func gain(d judge.Difference) string {
	what := "higher"
	if d.Mean < 0 {
		what = "lower"
	}
	return fmt.Sprintf("accuracy is %.1f ± %.1f points %s with it", 100*math.Abs(d.Mean),
		100*d.StandardError, what)
}

// accuracy describes the share of right predictions.
func (r *Report) accuracy() string {
	j := r.Judged
	switch {
	case r.Cleaned != nil:
		return fmt.Sprintf("%s of the predictions are right, %s", r.Cleaned.Right().Percent(),
			r.Cleaned.Basis())
	case j.Corrected != nil:
		a := j.Corrected.Accuracy
		if a.Low > 1 || a.High < 0 {
			return "The accuracy is unknown: the matrix and the labels disagree"
		}
		return fmt.Sprintf("%s of the predictions are right (95 %% interval %s to %s)",
			percent(possible(a.Value)), percent(possible(a.Low)), percent(possible(a.High)))
	case r.Noise != nil && j.Folds > 0:
		return fmt.Sprintf("%s of the predictions agree with the noisy labels", percent(1-j.ErrorRate))
	}
	return fmt.Sprintf("%s of the predictions are right, if the labels are", percent(1-j.ErrorRate))
}

// evidence describes the evaluated examples.
func (j *Judged) evidence() string {
	if j.Folds > 0 {
		return fmt.Sprintf("%d examples of %s, predicted out of fold (%d folds).", j.Examples, j.File,
			j.Folds)
	}
	return fmt.Sprintf("%d examples of %s, predicted by the model, which was trained on other data.",
		j.Examples, j.File)
}

// percent prints a share.
func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }
