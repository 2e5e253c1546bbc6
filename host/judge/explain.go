package judge

import (
	"math"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// Explanation measures how well C explains the noisy labels of examples grouped by predicted class.
// For true-class shares t of a group, C predicts label shares C·t; labels that no t explains
// contradict C. Errors of the model do not, as t is free.
type Explanation struct {
	N int64 `json:"n"` // examples
	// Unexplained is the share of the labels that would have to change, beyond chance; 0 to 1.
	Unexplained float64 `json:"unexplained"`
	// Deviance is twice the log-likelihood ratio of the observed label shares and the best under C.
	Deviance float64 `json:"deviance"`
	Freedom  int     `json:"degrees_of_freedom"` // of the deviance
	// P is the p-value of the deviance if C is right.
	P     float64 `json:"p"`
	Worst excess  `json:"worst"` // the label in largest excess
}

// excess is a label that is too frequent in one predicted class.
type excess struct {
	Predicted int     `json:"predicted"`
	Label     int     `json:"label"`
	Found     float64 `json:"found"`     // examples with the label
	Explained float64 `json:"explained"` // of these, by C at its best
}

// explain tests C by counts, Q×Q, of examples with predicted class p and noisy label k at [p*Q+k].
// Predictions must be out of fold, or of a model with too few weights to memorise labels: memorised
// labels look like less noise.
func explain(m *confusion.Matrix, counts []int64) Explanation {
	q := m.Q()
	e := Explanation{P: 1}
	moved := 0.0
	for p := range q {
		row := counts[p*q : (p+1)*q]
		n := lists.Sum(row)
		if n == 0 {
			continue
		}
		e.N += n
		t, mean := m.Shares(row)
		free := 0 // expected labels less free shares
		for r, v := range t {
			if mean[r]*float64(n) > 0.5 {
				free++
			}
			if v*float64(n) > 0.5 {
				free--
			}
		}
		chance, apart := 0.0, 0.0
		for k, v := range row {
			found, explained := float64(v), mean[k]*float64(n)
			if found > 0 {
				e.Deviance += 2 * found * math.Log(found/explained)
			}
			apart += math.Abs(found-explained) / 2
			chance += math.Sqrt(mean[k] * (1 - mean[k]) * float64(n) / (2 * math.Pi))
			if found-explained > e.Worst.Found-e.Worst.Explained {
				e.Worst = excess{Predicted: p, Label: k, Found: found, Explained: explained}
			}
		}
		e.Freedom += max(1, free)
		moved += max(0, apart-chance)
	}
	if e.N == 0 {
		return e
	}
	e.Deviance = max(0, e.Deviance)
	e.Unexplained = moved / float64(e.N)
	e.P = chiSquareTail(e.Deviance, e.Freedom)
	return e
}

// chiSquareTail returns the probability that a χ² variable of the given degrees of freedom is at
// least x: a finite sum of positive terms (Abramowitz & Stegun, 26.4.4 and 26.4.5).
func chiSquareTail(x float64, freedom int) float64 {
	half, p := x/2, 0.0
	first := float64(freedom%2) / 2
	if x <= 0 {
		return 1
	}
	if freedom%2 == 1 {
		p = math.Erfc(math.Sqrt(half))
	}
	for power := first; power < float64(freedom)/2; power++ {
		gamma, _ := math.Lgamma(power + 1)
		p += math.Exp(power*math.Log(half) - half - gamma)
	}
	return min(p, 1)
}
