package confusion

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/lapack"
	lapackgo "gonum.org/v1/gonum/lapack/gonum"

	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// MaxCondition is the largest condition number that Invert accepts. C⁻¹
// multiplies the errors of the counted class sums by up to this number; beyond
// it nothing of a float32 result (seven digits) is left to learn from.
const MaxCondition = 1e6

// isIdentity says whether labels are right: then singular values are all 1, and numerics.Inverse,
// which has nothing to eliminate, takes time in proportion to the entries.
func (m *Matrix) isIdentity() bool {
	for i, v := range m.P {
		if i%(m.Q()+1) == 0 && v != 1 || i%(m.Q()+1) > 0 && v != 0 {
			return false
		}
	}
	return true
}

// decompose returns the Q singular values, the largest first, and the right-singular vectors as
// rows, Q×Q; false if the decomposition does not converge. Package mat would link half of gonum.
func (m *Matrix) decompose() (values, right []float64, ok bool) {
	q := m.Q()
	a, left := slices.Clone(m.P), make([]float64, q*q)
	values, right = make([]float64, q), make([]float64, q*q)
	svd := func(work []float64, size int) bool {
		return lapackgo.Implementation{}.Dgesvd(lapack.SVDStore, lapack.SVDStore, q, q, a, q, values,
			left, q, right, q, work, size)
	}
	best := []float64{0}
	svd(best, -1)
	return values, right, svd(make([]float64, int(best[0])), int(best[0]))
}

// condition returns the ratio of the largest to the smallest singular value, +Inf where the
// smallest is what rounding alone leaves of a zero.
func condition(values []float64) float64 {
	first, last := values[0], values[len(values)-1]
	if last <= float64(len(values))*0x1p-52*first {
		return math.Inf(1)
	}
	return first / last
}

// Invert returns C⁻¹, computed by numerics.Inverse (clause 6). The error is from Check, or an
// *InseparableError if the matrix is singular or its condition number is above MaxCondition. A
// second call returns the same Inverse unless P has changed: inverting the matrix of thousands of
// classes takes minutes.
func (m *Matrix) Invert() (*Inverse, error) {
	if q := m.Q(); m.known == nil || len(m.P) != q*q || m.isIdentity() { // made by hand, or cheap
		return m.invert()
	}
	m.known.Lock()
	defer m.known.Unlock()
	if m.known.inverse != nil && slices.Equal(m.known.of, m.P) {
		return m.known.inverse, nil
	}
	v, err := m.invert()
	m.known.inverse, m.known.of = v, slices.Clone(m.P)
	return v, err
}

// known is the inverse of a matrix as it was.
type known struct {
	sync.Mutex
	inverse *Inverse // nil for none
	of      []float64
}

func (m *Matrix) invert() (*Inverse, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	q := m.Q()
	if m.isIdentity() {
		v, _ := numerics.Inverse(m.P, q)
		return &Inverse{Q: q, V: v, Condition: 1}, nil
	}
	// The matrix, both sides of its decomposition, and the work of it.
	need := memory.Product(q, q, 40)
	if err := memory.Check(need, fmt.Sprintf("inverting the confusion matrix of %d classes",
		q)); err != nil {
		return nil, err
	}
	values, right, ok := m.decompose()
	if !ok {
		return nil, fmt.Errorf("confusion matrix: the singular value decomposition of this %d×%d matrix "+
			"did not converge; use a better estimate of it", q, q)
	}
	cond := condition(values)
	if cond > MaxCondition {
		return nil, m.inseparable(values, right, cond)
	}
	v, ok := numerics.Inverse(m.P, q)
	if !ok {
		return nil, m.inseparable(values, right, cond)
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
		"most %.4g; its noisy labels cannot tell these classes apart: %s; merge them, or use a "+
		"better estimate of the matrix", e.Condition, float64(MaxCondition), quote.List(e.Classes))
}

// inseparable is the error that names the classes of a matrix without a usable inverse. A
// right-singular vector v of a tiny singular value has C·v ≈ 0: a mixture of columns that leaves no
// trace in the noisy labels. Its classes have large components. Several tiny values
// span a space of such vectors; the length of a class's projection on it does not depend on which
// basis the decomposition picked, and for a single vector it is |component|.
func (m *Matrix) inseparable(values, right []float64, cond float64) error {
	q := m.Q()
	size := make([]float64, q)
	largest := 0.0
	for c := range q {
		for i, s := range values {
			if i == q-1 || s*MaxCondition < values[0] {
				size[c] = math.Hypot(size[c], right[i*q+c])
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
