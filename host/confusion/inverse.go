package confusion

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gonum.org/v1/gonum/lapack"
	lapackgo "gonum.org/v1/gonum/lapack/gonum"

	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/option"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// MaxCondition is the largest condition number that Invert accepts. C⁻¹
// multiplies the errors of the counted class sums by up to this number; beyond
// it nothing of a float32 result (seven digits) is left to learn from.
const MaxCondition = 1e6

// permutes says whether m, which passes Check, is the identity or another permutation of
// the classes: then its singular values are all 1, and numerics.Inverse, which has nothing
// to eliminate, takes time in proportion to the entries.
func (m *Matrix) permutes() bool {
	q := m.Q()
	for p := range q {
		ones := 0
		for _, v := range m.P[p*q : (p+1)*q] {
			if v == 1 {
				ones++
			} else if v != 0 {
				return false
			}
		}
		if ones != 1 {
			return false
		}
	}
	return true
}

// decomposition is the singular value decomposition of a matrix.
type decomposition struct {
	values []float64 // Q singular values, the largest first
	right  []float64 // Q×Q: row i is the right-singular vector of value i
}

// decompose returns the decomposition of a matrix that passes Check, or false if
// it does not converge.
func (m *Matrix) decompose() (*decomposition, bool) {
	q := m.Q()
	a, left := slices.Clone(m.P), make([]float64, q*q)
	d := &decomposition{make([]float64, q), make([]float64, q*q)}
	svd := func(work []float64, size int) bool {
		return lapackgo.Implementation{}.Dgesvd(lapack.SVDStore, lapack.SVDStore, q, q, a, q, d.values,
			left, q, d.right, q, work, size)
	}
	best := []float64{0}
	svd(best, -1)
	return d, svd(make([]float64, int(best[0])), int(best[0]))
}

// condition returns the ratio of the largest to the smallest singular value,
// +Inf where the smallest is what rounding alone leaves of a zero.
func (d *decomposition) condition() float64 {
	first, last := d.values[0], d.values[len(d.values)-1]
	if last <= float64(len(d.values))*0x1p-52*first {
		return math.Inf(1)
	}
	return first / last
}

// Invert returns C⁻¹, computed by numerics.Inverse (clause 6), or the Inversion's replacement for
// it. The error is from Check or, for the exact inverse, an *InseparableError if the matrix is
// singular or its condition number is above MaxCondition. A second call returns the same Inverse
// unless P or Inversion has changed: inverting the matrix of thousands of classes takes minutes.
func (m *Matrix) Invert() (*Inverse, error) {
	if q := m.Q(); m.known == nil || len(m.P) != q*q || m.permutes() { // made by hand, or cheap
		return m.invert()
	}
	m.known.Lock()
	defer m.known.Unlock()
	if m.known.inverse != nil && m.known.by == m.Inversion && slices.Equal(m.known.of, m.P) {
		return m.known.inverse, nil
	}
	v, err := m.invert()
	m.known.inverse, m.known.of, m.known.by = v, slices.Clone(m.P), m.Inversion
	return v, err
}

// known is the inverse of a matrix as it was.
type known struct {
	sync.Mutex
	inverse *Inverse // nil for none
	of      []float64
	by      string
}

func (m *Matrix) invert() (*Inverse, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	q := m.Q()
	rule, strength, err := parseInversion(cmp.Or(m.Inversion, Exact))
	if err != nil {
		return nil, fmt.Errorf("confusion matrix: %w", err)
	}
	if m.permutes() && rule == Exact {
		v, _ := numerics.Inverse(m.P, q)
		return &Inverse{Q: q, V: v, Condition: 1}, nil
	}
	// The matrix, both sides of its decomposition, and the work of it.
	need := memory.Product(q, q, 40)
	if err := memory.Check(need, fmt.Sprintf("inverting the confusion matrix of %d classes",
		q)); err != nil {
		return nil, err
	}
	d, ok := m.decompose()
	if !ok {
		return nil, fmt.Errorf("confusion matrix: the singular value decomposition of this %d×%d matrix "+
			"did not converge; use a better estimate of it", q, q)
	}
	cond := d.condition()
	if rule != Exact {
		v, ok := standIn(rule, strength, m.P, q)
		if !ok {
			return nil, m.inseparable(d, cond)
		}
		return &Inverse{Q: q, V: v, Condition: cond}, nil
	}
	if cond > MaxCondition {
		return nil, m.inseparable(d, cond)
	}
	v, ok := numerics.Inverse(m.P, q)
	if !ok {
		return nil, m.inseparable(d, cond)
	}
	return &Inverse{Q: q, V: v, Condition: cond}, nil
}

// InseparableError is the error of a confusion matrix without a usable inverse.
type InseparableError struct {
	Condition float64  // condition number of the matrix, +Inf if it is singular
	Classes   []string // that noisy labels cannot tell apart
}

func (e *InseparableError) Error() string {
	return fmt.Sprintf("confusion matrix cannot be inverted: its condition number is %.4g, wanted at "+
		"most %.4g; its noisy labels cannot tell these classes apart: %s; merge them, use a better "+
		"estimate of the matrix, or an approximate inverse (%s)",
		e.Condition, float64(MaxCondition), quote.List(e.Classes), option.Named("inverse", Pseudo))
}

// inseparable is the error that names the classes of a matrix without a usable inverse. A
// right-singular vector v of a tiny singular value has C·v ≈ 0: a mixture of columns that leaves no
// trace in the noisy labels. Its classes have large components. Several tiny values
// span a space of such vectors; the length of a class's projection on it does not depend on which
// basis the decomposition picked, and for a single vector it is |component|.
func (m *Matrix) inseparable(d *decomposition, cond float64) error {
	q := m.Q()
	size := make([]float64, q)
	largest := 0.0
	for c := range q {
		for i, s := range d.values {
			if i == q-1 || s*MaxCondition < d.values[0] {
				size[c] = math.Hypot(size[c], d.right[i*q+c])
			}
		}
		largest = max(largest, size[c])
	}
	var names []string
	for c, s := range size {
		if s > largest/2 {
			names = append(names, m.Classes[c])
		}
	}
	return &InseparableError{cond, names}
}

// Rules for C⁻¹ in learners and estimates. The exact inverse amplifies errors of C by up to the
// condition number.
const (
	Exact    = "exact"    // C⁻¹
	Pseudo   = "pinv"     // the pseudo-inverse: Tikhonov with λ = 10⁻⁹
	Tikhonov = "tikhonov" // (CᵀC + λI)⁻¹Cᵀ
	Mix      = "mix"      // ((1-λ)C + λI)⁻¹
)

const (
	defaultStrength = 0.03
	pseudoStrength  = 1e-9
)

// ParseInversion returns the value of Matrix.Inversion for a rule, and after a colon its
// strength: λ of Tikhonov, above 0; of Mix the share of the identity, above 0 and below 1; 0.03
// if none is given.
func ParseInversion(text string) (string, error) {
	rule, strength, err := parseInversion(text)
	if err != nil || strength == 0 {
		return rule, err
	}
	return rule + ":" + strconv.FormatFloat(strength, 'g', -1, 64), nil
}

// parseInversion returns a rule and its strength, 0 of rules without one.
func parseInversion(text string) (rule string, strength float64, err error) {
	rule, number, given := strings.Cut(text, ":")
	switch rule {
	case Exact, Pseudo:
		if given {
			return "", 0, fmt.Errorf("found the inverse %q, wanted %s without a strength", text, rule)
		}
		return rule, 0, nil
	case Tikhonov, Mix:
	default:
		return "", 0, fmt.Errorf("found the inverse %q, wanted exact, pinv, tikhonov or mix (the last "+
			"two may have a strength, such as tikhonov:0.1)", text)
	}
	if !given {
		return rule, defaultStrength, nil
	}
	strength, err = strconv.ParseFloat(number, 64)
	if err != nil || !(strength > 0 && strength <= math.MaxFloat64) || rule == Mix && strength >= 1 {
		return "", 0, fmt.Errorf("found the strength %q of the inverse %s, wanted a number above 0 (of "+
			"mix below 1)", number, rule)
	}
	return rule, strength, nil
}

// standIn returns the inverse of c, Q×Q, by a rule other than Exact; false if there is none. Each
// product is rounded before it is added, so that all machines agree.
func standIn(rule string, strength float64, c []float64, q int) ([]float64, bool) {
	a, turned := make([]float64, q*q), make([]float64, q*q)
	if rule == Mix {
		for i, f := range c {
			a[i] = float64((1 - strength) * f)
			if i/q == i%q {
				a[i] += strength
			}
		}
		return numerics.Inverse(a, q)
	}
	for i, f := range c {
		turned[i%q*q+i/q] = f
	}
	a = numerics.Product(turned, c, q)
	if rule == Pseudo {
		strength = pseudoStrength
	}
	for i := range q {
		a[i*q+i] += strength
	}
	b, ok := numerics.Inverse(a, q)
	if !ok {
		return nil, false
	}
	return numerics.Product(b, turned, q), true
}
