// Package square has what matrices of a row and a column for each class have in common.
package square

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// CheckMemory refuses a matrix of q classes that does not fit in memory beside its
// inverse and what becomes of that in float32.
func CheckMemory(q int) error {
	return memory.Check(memory.Product(q, q, 24), fmt.Sprintf("the confusion matrix of %d classes "+
		"(are the labels classes?)", q))
}

// Normalise divides the columns of a q×q matrix by their sums.
func Normalise(a []float64, q int) {
	for t := range q {
		sum := 0.0
		for p := range q {
			sum += a[p*q+t]
		}
		for p := range q {
			a[p*q+t] /= sum
		}
	}
}
