package means_test

import (
	"errors"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/means"
)

// TestCombineShapes: parts that do not fit together are an error, and no part is.
func TestCombineShapes(t *testing.T) {
	part := func(d, q int) engine.Projection {
		p, err := means.Exact(dataset.Examples{N: 2, D: d, X: make([]float32, 2*d)}, []int32{0, 1}, q,
			rbf)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	shifted, other := part(3, 2), part(3, 2)
	shifted.Offset, other.Function = []float32{0, 1}, narrow
	for what, p := range map[string]engine.Projection{"features": part(4, 2), "classes": part(3, 3),
		"an offset": shifted, "a function": other} {
		sizes := [][]int64{{1, 1}, make([]int64, p.Axes.Q)}
		if _, _, err := means.Combine([]engine.Projection{part(3, 2), p}, sizes); !errors.Is(err,
			engine.ErrShape) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, _, err := means.Combine(nil, nil); !errors.Is(err, engine.ErrShape) {
		t.Errorf("no part: %v", err)
	}
}
