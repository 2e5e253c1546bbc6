package nearest_test

import (
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/nearest"
)

// TestWeights compares the weights with means by hand, of classes around (1,0) and (-2,2).
func TestWeights(t *testing.T) {
	x := dataset.Examples{N: 4, D: 3, X: []float32{0, 0, 1, 2, 0, 1, -2, 1, 1, -2, 3, 1}}
	for bias, want := range map[bool][]float32{
		true: {1, 0, -0.5, -2, 2, -4}, false: {1, 0, 1, -2, 2, 1},
	} {
		p := &learners.Problem{
			X: x, Y: []int32{0, 0, 1, 1}, Q: 2, Engine: cpuref.New(), Bias: bias,
		}
		r, err := host.Run(t.Context(), nearest.Defaults(), p, host.RunOptions{MaxSteps: 2})
		if err != nil || !slices.Equal(r.W.W, want) {
			t.Errorf("bias %v: got %v, %v, want %v", bias, r.W.W, err, want)
		}
	}
}
