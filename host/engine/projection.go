package engine

import (
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/mercer"
)

// Projection maps an example x to D = Axes.Q numbers (clause 13): number t is
// Σ_l κ(x, landmark_l)·Axes[t][l] + Offset[t]. With Axes.Q == 0 it maps x to the m kernel
// values themselves.
type Projection struct {
	Function  mercer.Function
	Landmarks dataset.Examples // m × d, dense or sparse
	Axes      Weights          // D rows of m; Q = 0 and W empty for none
	Offset    []float32        // D, or nil for none
}

// Width returns the count of numbers that p maps an example to: D, or m without axes.
func (p Projection) Width() int {
	if p.Axes.Q == 0 {
		return p.Landmarks.N
	}
	return p.Axes.Q
}
