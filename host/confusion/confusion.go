// Package confusion holds the confusion matrix C of the label noise: reading, checking, inverting
// and building it, estimating with it, and corrupting labels by it.
//
// C[p][q] = P(noisy = p | true = q). Column q says what becomes of the examples
// whose true label is class q, so columns sum to 1. This is the noise matrix of
// cleanlab and the transpose of the tables that scikit-learn prints.
package confusion

import (
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/quote"
)

// SumTolerance is how far from 1 the sum of a column may lie. A table of float32 probabilities
// stays below 1e-7; six printed decimals stay inside up to one unit in the last of them.
const SumTolerance = 1e-6

// Matrix is a Q×Q confusion matrix of label noise. The functions of this package
// that return a Matrix have checked it; one made by hand is checked with Check.
type Matrix struct {
	Classes []string  // Q distinct names, in the order of the class indices
	P       []float64 // Q·Q, row-major: P[p*Q+q] = P(noisy = p | true = q)

	// Error is the standard error of each entry, Q×Q as P, each in [0, 1]; nil if unknown. It is for
	// judging by C; learners do not use it.
	Error []float64

	known *known // nil of matrices made by hand
}

// Q returns the number of classes.
func (m *Matrix) Q() int { return len(m.Classes) }

// Check returns nil if m is a confusion matrix: at least two classes with distinct names, Q·Q
// entries, each in [0, 1], and columns that sum to 1 within SumTolerance. Entries get no tolerance,
// because a probability, however it is rounded, never leaves [0, 1].
//
// The error names the first wrong entry or column by its classes. If rows sum to 1 and columns do
// not, it names the option that reads the transpose. A matrix whose rows and columns sum to 1
// passes either way.
func (m *Matrix) Check() error {
	return m.check(false)
}

// check is Check for a matrix that was read with true classes in rows if trueRows, for which the
// advice on a transposed table is the opposite.
func (m *Matrix) check(trueRows bool) error {
	q := m.Q()
	if err := CheckClasses(m.Classes); err != nil {
		return err
	}
	if len(m.P) != q*q {
		return fmt.Errorf("confusion matrix has %d entries, wanted %d×%d = %d for its %d classes",
			len(m.P), q, q, q*q, q)
	}
	for i, v := range m.P {
		if !isProbability(v) {
			return fmt.Errorf("confusion matrix: P(noisy = %.60q | true = %.60q) is %v, wanted a number "+
				"from 0 to 1", m.Classes[i/q], m.Classes[i%q], v)
		}
	}
	if m.Error != nil && len(m.Error) != q*q {
		return fmt.Errorf("confusion matrix has %d standard errors, wanted %d×%d = %d, or none",
			len(m.Error), q, q, q*q)
	}
	for i, v := range m.Error {
		if !isProbability(v) {
			return fmt.Errorf("confusion matrix: the standard error of P(noisy = %.60q | true = %.60q) is "+
				"%v, wanted a number from 0 to 1", m.Classes[i/q], m.Classes[i%q], v)
		}
	}
	columns, rows := make([]float64, q), make([]float64, q)
	for p := range q {
		for c, v := range m.P[p*q : (p+1)*q] {
			columns[c] += v
			rows[p] += v
		}
	}
	bad, sum := firstBadSum(columns)
	if bad < 0 {
		return nil
	}
	err := fmt.Errorf("confusion matrix: the column of true class %.60q sums to %v, wanted 1 within "+
		"%v", m.Classes[bad], sum, SumTolerance)
	if badRow, _ := firstBadSum(rows); badRow >= 0 {
		return fmt.Errorf("%w; divide each column by its sum if these are counts or rounded numbers", err)
	}
	if trueRows {
		return fmt.Errorf("%w; its rows do sum to 1, so the table has noisy classes in rows: leave out "+
			"%s", err, axesOption())
	}
	return fmt.Errorf("%w; its rows do sum to 1, so the table has true classes in rows: use %s", err,
		axesOption())
}

// CheckClasses returns an error unless there are two or more distinct names.
func CheckClasses(classes []string) error {
	if len(classes) < 2 {
		return fmt.Errorf("confusion matrix of %d classes (%s), wanted 2 or more", len(classes),
			quote.List(classes))
	}
	if c, twice := lists.Repeated(classes); twice {
		return fmt.Errorf("confusion matrix: class %.60q is listed twice, wanted distinct names", c)
	}
	return nil
}

// CheckLabels returns an error that begins with what and names the first label out of 0..q-1.
func CheckLabels(what string, y []int32, q int) error {
	for i, k := range y {
		if k < 0 || int(k) >= q {
			return fmt.Errorf("%s: example %d (counted from 0) has label %d, wanted 0 to %d", what, i, k,
				q-1)
		}
	}
	return nil
}

// firstBadSum returns the first line whose sum is not 1, with its sum, or -1.
func firstBadSum(sums []float64) (int, float64) {
	for c, sum := range sums {
		if math.Abs(sum-1) > SumTolerance {
			return c, sum
		}
	}
	return -1, 1
}

// isProbability reports whether v is in [0, 1]; NaN is not.
func isProbability(v float64) bool { return v >= 0 && v <= 1 }

// New returns a matrix of zeros for the classes, whose names it copies.
func New(classes []string) (*Matrix, error) {
	if err := CheckClasses(classes); err != nil {
		return nil, err
	}
	if err := checkMemory(len(classes)); err != nil {
		return nil, err
	}
	return &Matrix{Classes: slices.Clone(classes), P: make([]float64, len(classes)*len(classes)),
		known: &known{}}, nil
}

// checkMemory refuses a matrix of q classes that does not fit in memory with its inverse and the
// float32 copy of that.
func checkMemory(q int) error {
	return memory.Check(memory.Product(q, q, 24), fmt.Sprintf("the confusion matrix of %d classes "+
		"(are the labels classes?)", q))
}

// Learned is the noise that a learner estimated from noisy labels alone.
type Learned struct {
	P []float64 // Q×Q, row-major: P[p*Q+q] = P(noisy = p | true = q)
	// Error is the standard error of each entry of P over samples of this size. It does not include
	// that features may not separate two classes.
	Error      []float64
	Annotators []Annotator // nil if unknown
}

// Annotator is a person or program that labelled examples.
type Annotator struct {
	Name   string
	Labels int       // number of labels given
	P      []float64 // Q×Q as Learned.P, of the annotator's labels
	Error  []float64 // standard errors of P; nil if not computed
}

// Right returns the mean of the diagonal: the accuracy if classes are equally frequent.
func (a *Annotator) Right(q int) float64 {
	sum := 0.0
	for k := range q {
		sum += a.P[k*q+k]
	}
	return sum / float64(q)
}
