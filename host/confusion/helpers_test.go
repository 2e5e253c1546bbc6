package confusion

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// names returns q class names.
func names(q int) []string {
	s := make([]string, q)
	for i := range s {
		s[i] = fmt.Sprintf("c%d", i)
	}
	return s
}

func num(v float64) string { return fmt.Sprint(v) }

// randomMatrix returns a matrix of q classes of which share is noise.
func randomMatrix(t *testing.T, rng *rand.Rand, q int, share float64) *Matrix {
	t.Helper()
	m, err := Random(names(q), share, rng.Uint64())
	if err != nil {
		t.Fatal(err)
	}
	return m
}
