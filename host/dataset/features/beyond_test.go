package features

import (
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// A value that a preparation takes beyond float32 is an error with its row of the input and its
// column.
func TestBeyondFloat32(t *testing.T) {
	steps, err := dataset.ParseSteps("standardize")
	if err != nil {
		t.Fatal(err)
	}
	small := &dataset.Dataset{Examples: dataset.Examples{N: 2, D: 2, X: []float32{0, 1e-3, 1, 2e-3}}}
	if err := Prepare(small, steps); err != nil {
		t.Fatal(err)
	}
	for _, sparse := range []bool{false, true} {
		d := &dataset.Dataset{Source: []int{0, 4, 7},
			Examples: dataset.Examples{N: 3, D: 2, X: []float32{0, 1, 0, 3e38, 0, 1}}}
		if sparse {
			d.Examples = d.Examples.Compressed()
		}
		if err := PrepareBy(d, small.Prepared); !facts.Told(err, "standardize row 5 column 2 +Inf") {
			t.Errorf("sparse %v: %v", sparse, err)
		}
	}
}
