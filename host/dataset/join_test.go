package dataset

import (
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// What is cut in two and joined is what it was, dense and sparse.
func TestJoin(t *testing.T) {
	dense := Examples{N: 3, D: 2, X: []float32{1, 0, 0, 0, 2, 3}}
	for _, e := range []Examples{dense, dense.Compressed()} {
		for at := range 4 {
			j, err := Join(e.Part(0, at), e.Part(at, 3))
			if err != nil {
				t.Fatal(err)
			}
			if err := j.Check(); err != nil || !slices.Equal(j.Dense().X, dense.X) ||
				j.Sparse() != e.Sparse() {
				t.Errorf("cut at %d: %+v, %v", at, j, err)
			}
		}
	}
	if _, err := Join(dense, dense.Compressed()); !facts.Told(err, "the same") {
		t.Error(err)
	}
}
