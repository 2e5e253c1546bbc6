package confusion

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// FromMatrix returns the confusion matrix m, whose row p and column q are P(noisy = p |
// true = q), of classes in that order, which is that of a dataset's Classes. It copies
// both. The error is that of Check, or about another shape.
func FromMatrix(classes []string, m mat.Matrix) (*Matrix, error) {
	q := len(classes)
	if r, c := m.Dims(); r != q || c != q {
		return nil, fmt.Errorf("confusion matrix: found %d×%d numbers, wanted %d×%d for its %d classes",
			r, c, q, q, q)
	}
	made, err := New(classes)
	if err != nil {
		return nil, err
	}
	for i := range made.P {
		made.P[i] = m.At(i/q, i%q)
	}
	if err := made.Check(); err != nil {
		return nil, err
	}
	return made, nil
}

// Mat returns a copy of m as a Q×Q matrix, P(noisy = p | true = q) in row p and column
// q.
func (m *Matrix) Mat() *mat.Dense {
	return mat.NewDense(m.Q(), m.Q(), append([]float64(nil), m.P...))
}
