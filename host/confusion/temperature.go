package confusion

import (
	"errors"
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// errNoTemperature is about scores for which no temperature is better than another.
var errNoTemperature = errors.New("temperature: the scores say nothing of the labels: " +
	"check that the confusion matrix is that of these labels, or train on more examples")

// Temperature returns the T by which the probabilities softmax(scores/T) have the least
// estimated Brier score (temperature scaling: Guo et al., On calibration of modern neural
// networks, 2017, Section 4.2; their criterion is the likelihood). scores is n×Q, row-major,
// y the n noisy labels; it changes neither. n is at least 1.
//
// As the error of clause 10, the score is estimated by C⁻¹: the mean over examples i of
// Σ_t C⁻¹[t][y_i]·Σ_r (p_ir - [r = t])². One example is added, spread over all others and
// all classes, so that labels without a mistake do not ask for T = 0. T is the first minimum
// on the way down from uniform probabilities, to 12 bits; its arithmetic is that of the
// contract (clause 15) and of float64 sums in order, so its bits are the same everywhere. It
// is an error if the score only rises on that way.
func (v *Inverse) Temperature(scores []float32, y []int32) (float32, error) {
	f, err := v.newTemperatureFit(scores, y)
	if err != nil {
		return 0, err
	}
	_, exponent := math.Frexp(f.spread)
	t := math.Ldexp(1, exponent+4) // where probabilities are all but uniform
	if !(f.slope(t) > 0) {
		return 0, errNoTemperature
	}
	for f.slope(t) > 0 {
		t /= 2
	}
	low, high := t, 2*t
	for range 12 {
		if middle := (low + high) / 2; f.slope(middle) > 0 {
			high = middle
		} else {
			low = middle
		}
	}
	if high < 0x1p-126 || high > math.MaxFloat32 {
		return 0, fmt.Errorf("temperature: found %v, wanted a normal float32: prepare the features (standardize, l2)", high)
	}
	return float32(high), nil
}

// temperatureFit is a call of Temperature.
type temperatureFit struct {
	q       int
	below   []float64 // n×q: how far each score is below the largest of its example, 0 or less
	spread  float64   // mean over the examples of the largest distance
	y       []int32
	columns []float64 // row k is column k of C⁻¹
	terms   []float64 // of slope, n
}

func (v *Inverse) newTemperatureFit(scores []float32, y []int32) (*temperatureFit, error) {
	q, n := v.Q, len(y)
	if n == 0 || len(scores)/q != n || len(scores)%q != 0 {
		return nil, fmt.Errorf("temperature: found %d scores for %d labels, wanted %d for each of at least one",
			len(scores), n, q)
	}
	f := &temperatureFit{q: q, y: y, below: make([]float64, len(scores)), terms: make([]float64, n),
		columns: make([]float64, q*q)}
	for i, e := range v.V {
		f.columns[i%q*q+i/q] = e
	}
	sum := 0.0
	for i, k := range y {
		if k < 0 || int(k) >= q {
			return nil, fmt.Errorf("temperature: example %d (from 0) has label %d, wanted 0 to %d", i, k, q-1)
		}
		row := scores[i*q : (i+1)*q]
		top, least := row[0], row[0]
		for _, s := range row {
			if d := s - s; d != 0 { // NaN of infinite numbers too
				return nil, fmt.Errorf("temperature: example %d (from 0) has the score %v, wanted finite numbers", i, s)
			}
			top, least = max(top, s), min(least, s)
		}
		for r, s := range row {
			f.below[i*q+r] = float64(s) - float64(top)
		}
		sum += float64(top) - float64(least)
	}
	f.spread = sum / float64(n)
	return f, nil
}

// slope returns half the derivative of n times the score by -1/t: above 0 where a lower t
// has a lower score.
func (f *temperatureFit) slope(t float64) float64 {
	parallel.Ranges(len(f.y), 64, func(from, to int) {
		p := make([]float32, f.q)
		for i := from; i < to; i++ {
			f.terms[i] = f.term(i, t, p)
		}
	})
	sum := 0.0
	for _, v := range f.terms {
		sum += v
	}
	return sum
}

// term is example i's share of slope: Σ_r (a_r - p_r)·p_r·(s_r - Σ p·s), where a are the
// shares of the true classes that its noisy label stands for, C⁻¹[·][y], and the same for
// its share 1/n of the example added, whose a are 1/q. p, for q numbers, is overwritten.
func (f *temperatureFit) term(i int, t float64, p []float32) float64 {
	below := f.below[i*f.q : (i+1)*f.q]
	for r, d := range below {
		p[r] = float32(d / t)
	}
	numerics.Softmax(p, p)
	mean := 0.0
	for r, d := range below {
		mean += float64(float64(p[r]) * d)
	}
	n := float64(len(f.y))
	added, more := 1/(n*float64(f.q)), 1+1/n
	shares := f.columns[int(f.y[i])*f.q:][:f.q]
	sum := 0.0
	for r, d := range below {
		v := float64(p[r])
		sum += float64((shares[r] + added - float64(more*v)) * float64(v*(d-mean)))
	}
	return sum
}
