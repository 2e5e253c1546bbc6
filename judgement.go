package umagpu

import (
	"errors"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/judge/metric"
)

// Judgement is how good predictions are, as far as the labels tell.
type Judgement struct {
	metric.Report         // the labels taken for right
	*metric.Probabilities // nil of predictions without
	// with a confusion matrix
	CorrectedLogLoss *float64 `json:"corrected_log_loss,omitempty"`
	// likewise, if it can be inverted
	Corrected *metric.Corrected `json:"corrected,omitempty"`
	Warnings  []string          `json:"warnings,omitempty"`
}

// judgement compares predictions with labels, which are noisy by the matrix, or right if that is
// nil. p are probabilities, Q of each example; nil for none.
func judgement(labels, predicted []int32, p []float32, classes []string, noise *confusion.Matrix,
) (*Judgement, error) {
	j := new(Judgement)
	var err error
	if j.Report, err = metric.Evaluate(labels, predicted, classes); err != nil {
		return nil, err
	}
	if p != nil {
		quality, err := metric.EvaluateProbabilities(labels, p, len(classes))
		if err != nil {
			return nil, err
		}
		j.Probabilities = &quality
	}
	if noise == nil {
		return j, nil
	}
	if p != nil {
		loss, err := metric.CorrectedLogLoss(labels, p, noise.P)
		if err != nil {
			return nil, err
		}
		j.CorrectedLogLoss = &loss
	}
	inverse, err := noise.Invert()
	if inseparable := new(confusion.InseparableError); errors.As(err, &inseparable) {
		j.Warnings = append(j.Warnings, fmt.Sprintf("no corrected accuracy: %v", err))
		return j, nil
	}
	if err != nil {
		return nil, err
	}
	corrected, err := metric.Correct(j.Report.Confusion, classes, noise.P, inverse.V, noise.Error)
	if err != nil {
		return nil, err
	}
	j.Corrected = &corrected
	if a := corrected.Accuracy; a.Low > 1 || a.High < 0 {
		j.Warnings = append(j.Warnings,
			fmt.Sprintf("a corrected accuracy of %.4f (%.4f to %.4f) cannot be: these labels are not noisy "+
				"by this confusion matrix, which claims too much noise, or has its axes swapped; estimate it "+
				"anew, or compare its columns with labels that were checked", a.Value, a.Low, a.High))
	}
	return j, nil
}
