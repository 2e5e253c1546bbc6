package confusion

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// Temperature returns the T by which the probabilities p = softmax(scores/T) have the least
// corrected Brier score (temperature scaling: Guo et al., On calibration of modern neural
// networks, 2017, Section 4.2; their criterion is the likelihood). scores is n×q, row-major,
// y the n noisy labels, noise their confusion matrix C, nil if they are right; none of them
// is changed. n is at least 1.
//
// The score is the mean over examples i, about mostHeated/q of them if there are more, of
// Σ_k ((C·p_i)_k - [k = y_i])². One example of unknown class is added, spread over all others, so
// that labels without a mistake do not lead to T = 0. T is the first minimum on the way
// down from uniform probabilities, to 12 bits; its arithmetic follows the contract (clause 15)
// and of float64 sums in order, so its bits are the same everywhere. It is an error if the score
// only rises on that way.
//
// It reads the scores about twenty times, with one product per example and nonzero entry of C; ctx
// receives progress and does not end it.
func Temperature(ctx context.Context, scores []float32, y []int32, q int, noise *Matrix,
) (float32, error) {
	f, err := newTemperatureFit(scores, y, q, noise)
	if err != nil {
		return 0, err
	}
	_, task := progress.Begin(ctx, progress.Work{Name: "fitting the temperature", Unit: "reading"})
	defer task.End()
	lower := func(t float64) bool { // whether a lower t has a lower score
		task.Add(1)
		return f.slope(t) > 0
	}
	_, exponent := math.Frexp(f.spread)
	t := math.Ldexp(1, exponent+4) // where probabilities are all but uniform
	if !lower(t) {
		return 0, errors.New("temperature: the scores do not predict the labels: check that the " +
			"confusion matrix belongs to these labels, or train on more examples")
	}
	for t /= 2; lower(t); t /= 2 {
	}
	const most = 1 << 12
	low, high, unit := most, 2*most, t/most
	for high-low > 1 {
		if middle := (low + high) / 2; lower(float64(middle) * unit) {
			high = middle
		} else {
			low = middle
		}
	}
	found := float64(high) * unit
	if found < 0x1p-126 || found > math.MaxFloat32 {
		return 0, fmt.Errorf("temperature: found %v, wanted a normal float32: prepare the features "+
			"(standardize, l2)", found)
	}
	return float32(found), nil
}

// mostHeated is about how many scores, of examples spread over the data, T is fitted to.
const mostHeated = 1 << 17

// temperatureFit is what a call of Temperature fits T to.
type temperatureFit struct {
	q      int
	below  []float64 // n×q: how far each score is below the largest of its example, 0 or less
	spread float64   // mean over the examples of the largest distance
	y      []int32
	// row k: the entries of row k of C, and of CᵀC, that are not 0, by column; nil for no noise
	noise, squares [][]entry
}

func newTemperatureFit(scores []float32, y []int32, q int, noise *Matrix) (*temperatureFit, error) {
	n := len(y)
	if q < 2 || n == 0 || len(scores)/q != n || len(scores)%q != 0 {
		return nil, fmt.Errorf("temperature: found %d scores for %d labels, wanted %d for each of at "+
			"least one", len(scores), n, q)
	}
	f := &temperatureFit{q: q}
	if noise != nil {
		if noise.Q() != q {
			return nil, fmt.Errorf("temperature: found a confusion matrix of %d classes, wanted %d",
				noise.Q(), q)
		}
		f.noise = sparse(noise.P, q, 1, q)
		all := make([]float64, q*q)
		for _, row := range f.noise {
			for _, a := range row {
				for _, b := range row {
					all[a.at*q+b.at] += float64(a.value * b.value)
				}
			}
		}
		f.squares = sparse(all, q, 1, q)
	}
	if err := CheckLabels("temperature", y, q); err != nil {
		return nil, err
	}
	sum := 0.0
	for i := range y {
		row := scores[i*q : (i+1)*q]
		top, least := row[0], row[0]
		for _, s := range row {
			if d := s - s; d != 0 { // NaN of infinite numbers too
				return nil, fmt.Errorf("temperature: example %d (from 0) has the score %v, wanted finite "+
					"numbers", i, s)
			}
			top, least = max(top, s), min(least, s)
		}
		if !heated(i, len(scores)) {
			continue
		}
		for _, s := range row {
			f.below = append(f.below, float64(s)-float64(top))
		}
		f.y = append(f.y, y[i])
		sum += float64(top) - float64(least)
	}
	f.spread = sum / float64(len(f.y))
	return f, nil
}

// heated reports whether T is fitted to example i of n scores. Multiples of the golden ratio are
// spread evenly and match no period of the labels.
func heated(i, n int) bool {
	const golden = 0x9e3779b9 // times 2^32
	return n <= mostHeated || uint64(uint32(i)*golden)*uint64(n) < mostHeated<<32
}

// slope returns half the derivative of n times the score by -1/t.
func (f *temperatureFit) slope(t float64) float64 {
	terms := make([]float64, len(f.y))
	parallel.Ranges(len(f.y), 64, func(from, to int) {
		p, g := make([]float64, f.q), make([]float64, f.q)
		for i := from; i < to; i++ {
			terms[i] = f.term(i, t, p, g)
		}
	})
	return lists.Sum(terms)
}

// term returns the part of the slope for example i with label y: (C·g)_y - ⟨CᵀC·p, g⟩, where p are
// the probabilities and g the derivatives p·(s - Σ p·s), plus Σ_r (1/q - p_r)·g_r/n for the added
// example. p and g, q numbers each, are overwritten.
func (f *temperatureFit) term(i int, t float64, p, g []float64) float64 {
	below := f.below[i*f.q : (i+1)*f.q]
	all, mean := 0.0, 0.0
	for r, d := range below {
		p[r] = float64(numerics.Exp(float32(d / t)))
		all += p[r]
		mean += float64(p[r] * d)
	}
	unit := 1 / all
	mean *= unit
	added := 0.0
	for r, d := range below {
		p[r] = float64(p[r] * unit)
		g[r] = float64(p[r] * (d - mean))
		added += float64((1/float64(f.q) - p[r]) * g[r])
	}
	sum := added / float64(len(f.y))
	if f.noise == nil {
		sum += g[f.y[i]]
	} else {
		for _, e := range f.noise[f.y[i]] {
			sum += float64(e.value * g[e.at])
		}
	}
	for k, v := range g {
		product := p[k] // (CᵀC·p)_k
		if f.noise != nil {
			product = 0
			for _, e := range f.squares[k] {
				product += float64(e.value * p[e.at])
			}
		}
		sum -= float64(product * v)
	}
	return sum
}
