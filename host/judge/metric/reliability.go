package metric

import (
	"fmt"
	"math"
)

// Bin is what a reliability diagram draws of the examples whose predicted class has a probability
// in (Low, High]; the first bin has 0 as well.
type Bin struct {
	Low         float64 `json:"low"`
	High        float64 `json:"high"`
	Examples    int     `json:"examples"`    // 0 or more; without any the next three are 0
	Probability float64 `json:"probability"` // mean of the predicted class's
	// Right is the share of right predictions; of noisy labels an estimate, which chance can push out
	// of [0, 1]. StandardError is its.
	Right         float64 `json:"right"`
	StandardError float64 `json:"standard_error"`
}

// Reliability puts examples in the CalibrationBins bins of Probabilities.CalibrationError: how
// often what was promised came true. labels and p are as in EvaluateProbabilities, which has the
// same errors. inverse is C⁻¹, Q×Q row-major, of the confusion matrix by which the labels are
// noisy, nil if they are right: a prediction k with the noisy label y counts as inverse[k][y]
// right ones, whose mean over noisy labels is 1 if k is the true class and 0 if not.
func Reliability(labels []int32, p []float32, q int, inverse []float64) ([]Bin, error) {
	if err := checkProbabilities(labels, p, q); err != nil {
		return nil, err
	}
	if inverse != nil && len(inverse) != q*q {
		return nil, fmt.Errorf("evaluate: found an inverse of %d entries, wanted %d×%d", len(inverse), q,
			q)
	}
	bins, squares := make([]Bin, CalibrationBins), make([]float64, CalibrationBins)
	for i, y := range labels {
		row := p[i*q : (i+1)*q]
		top := largest(row)
		k := binOf(float64(row[top]))
		right := 0.0
		if inverse != nil {
			right = inverse[top*q+int(y)]
		} else if top == int(y) {
			right = 1
		}
		b := &bins[k]
		b.Examples++
		b.Probability += float64(row[top])
		b.Right += right
		squares[k] += right * right
	}
	for k := range bins {
		b := &bins[k]
		b.Low, b.High = float64(k)/CalibrationBins, float64(k+1)/CalibrationBins
		if b.Examples == 0 {
			continue
		}
		n := float64(b.Examples)
		b.Probability, b.Right = b.Probability/n, b.Right/n
		b.StandardError = math.Sqrt(max(0, squares[k]/n-b.Right*b.Right) / n)
	}
	return bins, nil
}

// largest returns the place of the largest number, the first of equal ones.
func largest(row []float32) int {
	top := 0
	for k, v := range row {
		if v > row[top] {
			top = k
		}
	}
	return top
}

// binOf returns the bin of a probability.
func binOf(v float64) int {
	return max(0, min(CalibrationBins-1, int(math.Ceil(v*CalibrationBins))-1))
}
