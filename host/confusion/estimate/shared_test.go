package estimate

import (
	"fmt"
	"math"
)

// abc are the names of three classes.
var abc = []string{"a", "b", "c"}

// meanError returns the mean distance of the entries of two matrices.
func meanError(a, b []float64) float64 {
	sum := 0.0
	for k := range a {
		sum += math.Abs(a[k] - b[k])
	}
	return sum / float64(len(a))
}

// names returns the names of q classes.
func names(q int) []string {
	s := make([]string, q)
	for i := range s {
		s[i] = fmt.Sprintf("c%d", i)
	}
	return s
}
