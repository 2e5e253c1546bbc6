package means_test

import (
	"errors"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/means"
)

var rbf = kernel.Function{Kind: kernel.RBF, Gamma: 0.5}

func TestExactErrors(t *testing.T) {
	x := dataset.Examples{N: 3, D: 1, X: []float32{1, 2, 3}}
	for _, c := range []struct {
		what string
		y    []int32
		q    int
		f    kernel.Function
		want error
	}{
		{"too few labels", []int32{0, 1}, 2, rbf, engine.ErrShape},
		{"no classes", []int32{0, 1, 1}, 0, rbf, engine.ErrShape},
		{"a negative label", []int32{0, -1, 1}, 2, rbf, engine.ErrLabel},
		{"a label too large", []int32{0, 2, 1}, 2, rbf, engine.ErrLabel},
		{"gamma 0", []int32{0, 1, 1}, 2, kernel.Function{Kind: kernel.RBF}, nil},
	} {
		if _, err := means.Exact(x, c.y, c.q, c.f); err == nil || c.want != nil && !errors.Is(err,
			c.want) {
			t.Errorf("%s: %v, wanted %v", c.what, err, c.want)
		}
	}
}
