package crowd_test

import (
	"fmt"
	"math"
)

// abc are the names of three classes.
var abc = []string{"a", "b", "c"}

// draw returns the noisy label of an example of the given class, by the Q×Q matrix p, for u in [0,
// 1).
func draw(p []float64, q, class int, u float64) int32 {
	last, sum := 0, 0.0
	for k := range q {
		v := p[k*q+class]
		if v == 0 {
			continue
		}
		last = k
		if sum += v; u < sum {
			break
		}
	}
	return int32(last)
}

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
