package metric

import (
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// CalibrationBins is the number of bins of Probabilities.CalibrationError.
const CalibrationBins = 15

// Probabilities is the quality of probabilities of Q classes given to n examples. Its JSON
// form is part of what `uma-gpu eval --json` prints.
type Probabilities struct {
	// LogLoss is the mean of -log p of the true class: 0 or more. As scikit-learn's log_loss
	// does for float32, a p below 2^-23 counts as that, and one above 1 - 2^-23 as that.
	LogLoss float64 `json:"log_loss"`
	// BrierScore is the mean of Σ_r (p_r - [r is true])², in [0, 2] (Brier 1950);
	// scikit-learn's brier_score_loss halves it for two classes.
	BrierScore float64 `json:"brier_score"`
	// CalibrationError is the expected calibration error of the predicted class, in [0, 1]:
	// examples are put in 15 bins of equal width by the largest of their probabilities, and the
	// mean over examples is taken of how far their bin's share of right predictions is from
	// its mean probability (Guo et al. 2017, equation 5).
	CalibrationError float64 `json:"calibration_error"`
}

// leastProbability is float32's machine epsilon.
const leastProbability = 0x1p-23

// EvaluateProbabilities compares the probabilities p, n×q row-major, with truth, the class of
// each of the n examples. Of equal probabilities the first is the prediction. The error is
// about slices that do not fit, no example, or the first label or probability out of range.
func EvaluateProbabilities(truth []int32, p []float32, q int) (Probabilities, error) {
	bins, err := Reliability(truth, p, q, nil)
	if err != nil {
		return Probabilities{}, err
	}
	var r Probabilities
	for i, y := range truth {
		row := p[i*q : (i+1)*q]
		for k, v := range row {
			d := float64(v)
			if k == int(y) {
				d--
			}
			r.BrierScore += d * d
		}
		r.LogLoss += loss(float64(row[y]))
	}
	for _, b := range bins {
		r.CalibrationError += float64(b.Examples) * math.Abs(b.Probability-b.Right)
	}
	n := float64(len(truth))
	r.LogLoss, r.BrierScore, r.CalibrationError = r.LogLoss/n, r.BrierScore/n, r.CalibrationError/n
	return r, nil
}

// CorrectedLogLoss is the log-loss of noisy labels: the mean of -log Σ_r c[k][r]·p_r, where k is an
// example's noisy label and c the Q×Q confusion matrix, row-major, c[k][r] = P(noisy = k | true =
// r). p is n×Q as in EvaluateProbabilities, whose limits of probabilities and errors it shares.
func CorrectedLogLoss(noisy []int32, p []float32, c []float64) (float64, error) {
	q := int(math.Round(math.Sqrt(float64(len(c)))))
	if q*q != len(c) || q == 0 {
		return 0, fmt.Errorf("evaluate: found a confusion matrix of %d entries, wanted a square one",
			len(c))
	}
	if err := CheckProbabilities(noisy, p, q); err != nil {
		return 0, err
	}
	sum := 0.0
	for i, k := range noisy {
		v := 0.0
		for r, share := range c[int(k)*q : (int(k)+1)*q] {
			v += share * float64(p[i*q+r])
		}
		sum += loss(v)
	}
	return sum / float64(len(noisy)), nil
}

// loss returns -log p within the limits of LogLoss.
func loss(p float64) float64 { return -math.Log(min(max(p, leastProbability), 1-leastProbability)) }

// CheckProbabilities returns the fault of labels, or of probabilities of q classes for each.
func CheckProbabilities(labels []int32, p []float32, q int) error {
	n := len(labels)
	if n == 0 || q < 1 || len(p)%q != 0 || len(p)/q != n {
		return fmt.Errorf("evaluate: found %d probabilities for %d labels, wanted %d for each of at "+
			"least one", len(p), n, q)
	}
	for i, y := range labels {
		if y < 0 || int(y) >= q {
			return fmt.Errorf("evaluate: example %d (counted from 0) has label %d, wanted 0 to %d", i, y,
				q-1)
		}
	}
	for i, v := range p {
		if !(v >= 0 && v <= 1+1e-5) { // what rounding may have added
			return fmt.Errorf("evaluate: example %d (counted from 0) has the probability %v, wanted 0 to 1",
				i/q, v)
		}
	}
	return nil
}

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
	if err := CheckProbabilities(labels, p, q); err != nil {
		return nil, err
	}
	if inverse != nil && len(inverse) != q*q {
		return nil, fmt.Errorf("evaluate: found an inverse of %d entries, wanted %d×%d", len(inverse), q,
			q)
	}
	bins, squares := make([]Bin, CalibrationBins), make([]float64, CalibrationBins)
	for i, y := range labels {
		row := p[i*q : (i+1)*q]
		top := lists.Largest(row)
		k := max(0, min(CalibrationBins-1, int(math.Ceil(float64(row[top])*CalibrationBins))-1))
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
