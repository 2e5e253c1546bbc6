// Package sets makes prediction sets: classes that hold the true one with a promised probability,
// calibrated by labels that may be noisy.
package sets

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/judge/metric"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// ErrInput is the kind of error about what Calibrate was given; test with errors.Is.
var ErrInput = errors.New("prediction sets")

// Rule says which classes a prediction set holds: class k if its nonconformity, 1 - p(k), is at
// most Thresholds[k]. Its JSON form is part of a model's meta.json.
type Rule struct {
	Level   float64 `json:"level"`    // promised probability of the true class, 0 < Level < 1
	ByClass bool    `json:"by_class"` // the promise holds for each true class
	// Sure says that the promise holds for 95 % of calibrations by this number of examples, not in the
	// mean over them.
	Sure bool `json:"sure,omitempty"`
	// AtLeast is the coverage that 95 % of calibrations by this number of examples reach, by the noise
	// of the labels and the standard errors of their matrix; by class, of the worst class.
	AtLeast float64 `json:"at_least"`
	// Thresholds are Q numbers, all equal unless ByClass. 2 is above every nonconformity: no
	// threshold keeps the promise, so the class is in every set.
	Thresholds []float64 `json:"thresholds"`
}

// Always is the threshold of a class that is in every set.
const Always = 2

// Calibrate returns the rule of the smallest thresholds that keep the promise of r, whose
// Thresholds it ignores. p are probabilities of n examples that the model has not seen, n×Q
// row-major; y are their labels in [0, Q), noisy by the matrix c, or right if c is nil.
//
// By noisy labels the coverage of a threshold s is Σ_i Σ_k C⁻¹[k][y_i]·1{nonconformity(i,k) ≤ s}/n,
// right in the mean (Sesia, Wang and Tong, Adaptive conformal classification with noisy
// labels, 2024). That curve need not rise everywhere: the threshold is where the sum of coverage
// minus level, over all nonconformities below it, is least (isotonic regression's crossing). The
// level asked of n examples is Level·(1 + 1/n); without noise the rule is split conformal
// prediction. By class, sums and n are of one true class. Where c has standard errors, C⁻¹
// is freed of the bias that they cause, to second order.
//
// Sure raises the threshold until the coverage is surely at least Level, by the standard error of
// the curve, at it and at all larger scores (fixed-sequence testing; Angelopoulos et al., Learn
// then test, 2021).
//
// Errors wrap ErrInput or come from c.Invert.
func Calibrate(p []float32, y []int32, c *confusion.Matrix, r Rule) (Rule, error) {
	q, err := check(p, y, c, r)
	if err != nil {
		return Rule{}, err
	}
	inverse, err := inverseOf(c, q)
	if err != nil {
		return Rule{}, err
	}
	var points []point
	for i, label := range y {
		for k, v := range p[i*q : (i+1)*q] {
			if weight := inverse[k*q+int(label)]; weight != 0 {
				points = append(points, point{1 - float64(v), weight, int32(k)})
			}
		}
	}
	slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.score, b.score) })
	r.Thresholds, r.AtLeast = make([]float64, q), 1
	d := draws{p: p, y: y, inverse: inverse, noise: c, level: r.Level, class: -1}
	for k := range q {
		own, n := points, float64(len(y))
		if r.ByClass {
			d.class = k
			own, n = ofClass(points, int32(k))
		} else if k > 0 {
			r.Thresholds[k] = r.Thresholds[0]
			continue
		}
		at := threshold(own, n, r.Level)
		if r.Sure {
			at = d.raise(own, at)
		}
		r.Thresholds[k], r.AtLeast = at, min(r.AtLeast, d.least(at))
	}
	return r, nil
}

// check returns the number of classes.
func check(p []float32, y []int32, c *confusion.Matrix, r Rule) (q int, err error) {
	if q = len(p) / max(1, len(y)); q < 2 {
		return 0, fmt.Errorf("%w: got %d probabilities of %d examples, want Q of each example, for Q ≥ 2"+
			" classes", ErrInput, len(p), len(y))
	}
	if err := r.Check(); err != nil {
		return 0, err
	}
	if c != nil && c.Q() != q {
		return 0, fmt.Errorf("%w: got a confusion matrix of %d classes for probabilities of %d classes",
			ErrInput, c.Q(), q)
	}
	if err := metric.CheckProbabilities(y, p, q); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrInput, err)
	}
	return q, nil
}

// Check returns nil if the promise is one: a level between 0 and 1.
func (r *Rule) Check() error {
	if !(r.Level > 0 && r.Level < 1) {
		return fmt.Errorf("%w: got level %g, want more than 0 and less than 1", ErrInput, r.Level)
	}
	return nil
}

// At returns the rule of the level, and false if there is none.
func At(rules []Rule, level float64) (Rule, bool) {
	i := slices.IndexFunc(rules, func(r Rule) bool { return r.Level == level })
	if i < 0 {
		return Rule{}, false
	}
	return rules[i], true
}

// Classes appends to dst the classes of the set for an example with probabilities p, Q of them, in
// increasing order. A set may be empty: no class is plausible.
func (r *Rule) Classes(dst []int32, p []float32) []int32 {
	for k, v := range p {
		if 1-float64(v) <= r.Thresholds[k] {
			dst = append(dst, int32(k))
		}
	}
	return dst
}

// Judged is what examples tell of a rule. Its JSON form is part of what `uma-gpu eval --json` prints.
type Judged struct {
	Level    float64 `json:"level"`
	Coverage float64 `json:"coverage"` // share of examples whose set holds the true class
	Error    float64 `json:"standard_error"`
	Size     float64 `json:"size"` // mean number of classes in a set
}

// Judge returns the coverage and size of the sets for examples with probabilities p and labels y,
// noisy by c, as Calibrate takes them. By noisy labels the coverage is estimated, and may leave
// [0, 1]. Errors are as for Calibrate.
func (r *Rule) Judge(p []float32, y []int32, c *confusion.Matrix) (Judged, error) {
	q, err := check(p, y, c, *r)
	if err != nil {
		return Judged{}, err
	}
	inverse, err := inverseOf(c, q)
	if err != nil {
		return Judged{}, err
	}
	n, squares, j := float64(len(y)), 0.0, Judged{Level: r.Level}
	var set []int32
	for i, label := range y {
		set = r.Classes(set[:0], p[i*q:(i+1)*q])
		held := 0.0
		for _, k := range set {
			held += inverse[int(k)*q+int(label)]
		}
		j.Size += float64(len(set)) / n
		j.Coverage += held / n
		squares += float64(held*held) / n
	}
	j.Error = math.Sqrt(max(squares-float64(j.Coverage*j.Coverage), 0) / n)
	return j, nil
}

// Unbounded returns how many classes are in every set.
func (r *Rule) Unbounded() int {
	return lists.Count(r.Thresholds, func(t float64) bool { return t == Always })
}

// point is the nonconformity of a class for an example, which is that class with this weight.
type point struct {
	score  float64
	weight float64
	class  int32
}

// ofClass returns the points of a class, and how many examples are truly of it.
func ofClass(points []point, k int32) (own []point, n float64) {
	for _, p := range points {
		if p.class == k {
			own = append(own, p)
			n += p.weight
		}
	}
	return own, n
}

// threshold returns the score up to which points, sorted, have the share level of n examples.
func threshold(points []point, n, level float64) float64 {
	if n < 1 {
		return Always
	}
	asked := level * (n + 1) // of n examples
	var covered, sum float64
	least, best := math.Inf(1), float64(Always)
	if len(points) > 0 {
		least, best = 0, points[0].score // below all scores nothing is covered
	}
	for i := 0; i < len(points); {
		end := i
		for ; end < len(points) && points[end].score == points[i].score; end++ {
			covered += points[end].weight
		}
		sum += float64(float64(end-i) * (covered - asked))
		if sum < least {
			least, best = sum, Always
			if end < len(points) {
				best = points[end].score
			}
		}
		i = end
	}
	return best
}

// inverseOf returns what a label counts as of each class: C⁻¹, or the identity.
func inverseOf(c *confusion.Matrix, q int) ([]float64, error) {
	if c == nil {
		return confusion.NoNoise(q).V, nil
	}
	inverse, err := c.Invert()
	if err != nil {
		return nil, err
	}
	return unbiased(inverse.V, c), nil
}

// unbiased returns the inverse B of c, freed of the bias by c's standard errors: the mean of
// (C + E)⁻¹ is B + B·mean(E·B·E)·B to second order. A column of E varies as the shares of a sample
// do whose size its standard errors tell.
func unbiased(inverse []float64, c *confusion.Matrix) []float64 {
	if c.Error == nil {
		return inverse
	}
	q := c.Q()
	turn := make([]float64, q*q) // mean(E·B·E): column t is cov(E[·][t])·B[t][·]
	for t := range q {
		var spread, squares, mean float64
		for k := range q {
			e, share := c.Error[k*q+t], c.P[k*q+t]
			squares += float64(e * e)
			spread += float64(share * (1 - share))
			mean += float64(share * inverse[t*q+k])
		}
		if spread == 0 {
			continue
		}
		for k := range q {
			share := c.P[k*q+t]
			turn[k*q+t] = float64(squares/spread) * float64(share*(inverse[t*q+k]-mean))
		}
	}
	free := slices.Clone(inverse)
	for i, v := range numerics.Product(numerics.Product(inverse, turn, q), inverse, q) {
		free[i] -= v
	}
	return free
}
