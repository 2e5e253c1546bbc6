package pca

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

func TestErrors(t *testing.T) {
	x, _ := generated(40, 4, 1)
	same := repeated(x.Pick([]int{0}), 40)
	opposite := dataset.Examples{N: 2, D: 1, X: []float32{1, -1}}
	zeros := dataset.Examples{N: 40, D: 1, X: make([]float32, 40)}
	zeros.X[7] = 1
	large := dataset.Examples{N: 2, D: 1, X: []float32{1e30, 1}}
	for _, c := range []struct {
		name string
		x    dataset.Examples
		o    Options
		kind error
		text string
	}{
		{"components beyond examples", x, Options{Function: rbf, Components: 40}, ErrOptions,
			"40 components 39"},
		{"components beyond landmarks", x, Options{Function: rbf, Components: 11, Landmarks: 10},
			ErrOptions, "most 10"},
		{"components beyond features", x, Options{Function: kernel.Function{Kind: kernel.Linear},
			Components: 5}, ErrOptions, "most 4"},
		{"no components", x, Options{Function: rbf}, ErrOptions, "components"},
		{"negative components", x, Options{Function: rbf, Components: -1}, ErrOptions, "-1 components"},
		{"gamma 0", x, Options{Function: kernel.Function{Kind: kernel.RBF}, Components: 3}, ErrOptions,
			"gamma 0"},
		{"gamma below 0", x, Options{Function: kernel.Function{Kind: kernel.RBF, Gamma: -1},
			Components: 3}, ErrOptions, "gamma -1"},
		{"unknown function", x, Options{Function: kernel.Function{Kind: "sigmoid"}, Components: 3},
			ErrOptions, `"sigmoid"`},
		{"landmarks beyond examples", x, Options{Function: rbf, Components: 3, Landmarks: 41}, ErrOptions,
			"41 landmarks example 40"},
		{"one example", x.Pick([]int{0}), Options{Function: rbf, Components: 1}, ErrOptions,
			"2 examples"},
		{"constant", same, Options{Function: rbf, Components: 3}, ErrConstant, "the first"},
		{"constant and sparse", same.Compressed(), Options{Function: rbf, Components: 3}, ErrConstant,
			"first"},
		{"constant in feature space", opposite, Options{Function: kernel.Function{Kind: kernel.Poly,
			Gamma: 1, Degree: 2}, Components: 1}, ErrConstant, "poly"},
		{"tiny gamma", x, Options{Function: kernel.Function{Kind: kernel.RBF, Gamma: 1e-12},
			Components: 3}, ErrConstant, "gamma 1e-12"},
		{"overflow", large, Options{Function: kernel.Function{Kind: kernel.Poly, Gamma: 1, Degree: 2},
			Components: 1}, engine.ErrValue, "overflow"},
		{"overflow with landmarks", large, Options{Function: kernel.Function{Kind: kernel.Poly, Gamma: 1,
			Degree: 2}, Components: 1, Landmarks: 2}, engine.ErrValue, "overflow"},
		{"landmarks that are 0", zeros, Options{Function: kernel.Function{Kind: kernel.Linear},
			Components: 1, Landmarks: 2}, ErrConstant, "2 landmarks 0"},
		{"not finite", dataset.Examples{N: 2, D: 1, X: []float32{float32(math.NaN()), 1}},
			Options{Function: rbf, Components: 1}, engine.ErrValue, "NaN"},
		{"bad shape", dataset.Examples{N: 3, D: 2, X: make([]float32, 5)},
			Options{Function: rbf, Components: 1}, nil, "5 values"},
	} {
		b, err := Fit(context.Background(), simd.New(), c.x, c.o)
		if err == nil || b != nil || c.kind != nil && !errors.Is(err, c.kind) ||
			!facts.Told(err, c.text) {
			t.Errorf("%s: basis %v, error %v, wanted %q", c.name, b != nil, err, c.text)
		}
	}
}
