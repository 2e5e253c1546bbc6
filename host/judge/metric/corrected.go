package metric

import (
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// quantile is the 97.5 % quantile of the normal distribution.
const quantile = 1.959963984540054

// Estimate is a share that noisy labels tell of, with the interval that holds the true one in 95
// of 100 cases, if the confusion matrix is right, or as nearly right as it says of itself. An
// estimate may leave [0, 1].
type Estimate struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Corrected is the quality of predictions on right labels as far as noisy ones tell it. Its JSON
// form is part of what `uma-gpu eval --confusion C --json` prints.
type Corrected struct {
	Accuracy         Estimate `json:"accuracy"`          // share of examples predicted right
	MacroF1          *float64 `json:"macro_f1"`          // as in Report; these are nil (null) if
	BalancedAccuracy *float64 `json:"balanced_accuracy"` // no class is estimated to have an example
	Kappa            *float64 `json:"kappa"`

	PerClass  []correctedClass `json:"per_class"` // in the order of the class indices
	Confusion [][]float64      `json:"confusion"` // Q×Q: [p][q] examples predicted p, truly q
}

// correctedClass is the quality of the predictions of one class. What there is nothing to be a
// share of is nil (null).
type correctedClass struct {
	Class     string    `json:"class"`
	Share     float64   `json:"share"` // of the examples that are truly of the class
	Recall    *Estimate `json:"recall"`
	Precision *Estimate `json:"precision"`
	F1        *float64  `json:"f1"`
}

// Correct judges predictions by labels that are noisy by the Q×Q matrix c, row-major, c[k][t] =
// P(noisy = k | true = t), whose inverse is given. counts[p][k] is how many examples are
// predicted p and labelled k, as in Report.Confusion.
//
// An example predicted p with noisy label k counts as inverse[t][k] examples of true class t, which
// is right in the mean over the noise; a value is the mean of such counts, or a ratio of two. Its
// interval is by the variance that they have in the sample (delta method), after four examples (the
// squared quantile) were added, half of them predicted right: where labels are right it is the
// interval of Agresti and Coull (The American Statistician 52, 1998), which keeps its promise for
// few examples too. errs are the standard errors of c, if that was estimated from other labels than
// these, and widen the intervals; nil if c is known.
//
// The error is about no example, or tables of other sizes than Q = len(classes) asks for.
func Correct(counts [][]int64, classes []string, c, inverse, errs []float64) (Corrected, error) {
	q := len(classes)
	if errs != nil && len(errs) != q*q {
		return Corrected{}, fmt.Errorf("evaluate: found %d standard errors for %d classes, wanted %d×%d",
			len(errs), q, q, q)
	}
	if len(c) != q*q || len(inverse) != q*q {
		return Corrected{}, fmt.Errorf("evaluate: found matrices of %d and %d entries for %d classes, "+
			"wanted %d×%d", len(c), len(inverse), q, q, q)
	}
	n, err := total(counts, q)
	if err != nil {
		return Corrected{}, err
	}
	s := correction{q: q, n: float64(n), counts: counts, inverse: inverse, joint: jointOf(counts,
		inverse, q), squares: squaresOf(c, inverse, q)}
	s.drift = newDrift(c, errs, q)
	predicted, truly := sums(s.joint, q)
	means := meansOf(s.joint, predicted, truly)
	r := Corrected{MacroF1: means.macroF1, BalancedAccuracy: means.balanced, Kappa: means.kappa}
	var all sample
	for k, name := range classes {
		class := correctedClass{Class: name, Share: truly[k] / s.n, F1: means.f1[k]}
		if truly[k] > 0 {
			class.Recall = s.recall(k, truly)
		}
		if one := s.predicted(k); one.n > 0 {
			all.add(one)
			e := one.estimate(s.drift.variance(func(i, j int) float64 {
				return float64(s.inverse[k*q+i]*s.joint[k*q+j]) / one.n
			}))
			class.Precision = &e
		}
		r.PerClass = append(r.PerClass, class)
		r.Confusion = append(r.Confusion, s.joint[k*q:(k+1)*q:(k+1)*q])
	}
	r.Accuracy = all.estimate(s.drift.variance(s.moves()))
	return r, nil
}

// total returns the sum of q×q counts.
func total(counts [][]int64, q int) (n int64, err error) {
	if len(counts) != q {
		return 0, fmt.Errorf("evaluate: found counts of %d rows for %d classes, wanted %d×%d",
			len(counts), q, q, q)
	}
	for _, row := range counts {
		if len(row) != q {
			return 0, fmt.Errorf("evaluate: found a row of %d counts for %d classes, wanted %d×%d", len(row),
				q, q, q)
		}
		n += lists.Sum(row)
	}
	if n == 0 {
		return 0, fmt.Errorf("evaluate: no example, wanted 1 or more")
	}
	return n, nil
}

// correction is a call of Correct.
type correction struct {
	q       int
	n       float64
	counts  [][]int64 // [p][k]
	inverse []float64
	joint   []float64 // [p*q+t]: the examples that count as predicted p, truly t
	squares []float64 // [p*q+t]: mean of inverse[p][k]² over the noisy labels k of true class t
	drift   *drift
}

// jointOf returns Σ_k counts[p][k]·inverse[t][k] at [p*q+t].
func jointOf(counts [][]int64, inverse []float64, q int) []float64 {
	joint := make([]float64, q*q)
	for p, row := range counts {
		for k, v := range row {
			if v == 0 {
				continue
			}
			for t := range q {
				joint[p*q+t] += float64(float64(v) * inverse[t*q+k])
			}
		}
	}
	return joint
}

// squaresOf returns Σ_k c[k][t]·inverse[p][k]² at [p*q+t].
func squaresOf(c, inverse []float64, q int) []float64 {
	squares := make([]float64, q*q)
	for p := range q {
		for k := range q {
			v := inverse[p*q+k]
			if v == 0 {
				continue
			}
			for t, share := range c[k*q : (k+1)*q] {
				squares[p*q+t] += float64(share * float64(v*v))
			}
		}
	}
	return squares
}

// sample is a number of examples, each with a value that is 1 in the mean if it is predicted
// right and else 0.
type sample struct {
	n, sum, square float64
	// the sum over examples of the squares expected of one that is right, and wrong
	right, wrong float64
}

func (s *sample) add(o sample) {
	s.n, s.sum, s.square = s.n+o.n, s.sum+o.sum, s.square+o.square
	s.right, s.wrong = s.right+o.right, s.wrong+o.wrong
}

// predicted returns the examples predicted k.
func (s *correction) predicted(k int) sample {
	r := sample{sum: s.joint[k*s.q+k]}
	for label, v := range s.counts[k] {
		count, value := float64(v), s.inverse[k*s.q+label]
		r.n += count
		r.square += float64(count * float64(value*value))
	}
	others := 0.0
	for t, v := range s.squares[k*s.q : (k+1)*s.q] {
		if t != k {
			others += v
		}
	}
	r.right = r.n * s.squares[k*s.q+k]
	if s.q > 1 {
		r.wrong = r.n * others / float64(s.q-1)
	}
	return r
}

// estimate returns the mean of the values, to whose variance that by the errors of c is added.
func (s *sample) estimate(drift float64) Estimate {
	const half = quantile * quantile / 2 // of the examples added
	n := s.n + 2*half
	centre := (s.sum + half) / n
	square := (s.square + half*(s.right+s.wrong)/s.n) / n
	return interval(s.sum/s.n, centre, math.Sqrt(max(0, square-centre*centre)/n+drift))
}

// recall returns the recall of class k; truly[t] examples count as of class t.
func (s *correction) recall(k int, truly []float64) *Estimate {
	const half = quantile * quantile / 2
	n := truly[k] + 2*half
	centre := (s.joint[k*s.q+k] + half) / n
	hit, miss := (1-centre)*(1-centre), centre*centre
	square := half * s.squares[k*s.q+k] * (hit + miss)
	for p, row := range s.counts {
		of := miss
		if p == k {
			of = hit
		}
		for label, v := range row {
			value := s.inverse[k*s.q+label]
			square += float64(float64(v) * float64(value*value) * of)
		}
	}
	right := s.joint[k*s.q+k] / truly[k]
	drift := s.drift.variance(func(i, j int) float64 {
		return float64(s.inverse[k*s.q+i]*(s.joint[k*s.q+j]-float64(right*truly[j]))) / truly[k]
	})
	e := interval(right, centre, math.Sqrt(float64(square/n/n)+drift))
	return &e
}

func interval(value, centre, standardError float64) Estimate {
	half := quantile * standardError
	return Estimate{Value: value, Low: min(value, centre-half), High: max(value, centre+half)}
}
