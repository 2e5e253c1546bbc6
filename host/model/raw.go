package model

import (
	"errors"
	"fmt"
)

// ErrNotLinear marks models whose scores are no sums over features.
var ErrNotLinear = errors.New("the model is not linear in its features")

// Raw returns W for raw features x: before a last step l2, which
// divides all scores of an example by one number, the score of class r is Σ_j weights[r*d+j]·x_j +
// constants[r], d being Meta.Features.Count. Each weight is rounded once, to float64. The error is
// ErrNotLinear, of a model with a kernel map.
func (m *Model) Raw() (weights, constants []float64, err error) {
	if k := m.Meta.Kernel; k != nil {
		return nil, nil, fmt.Errorf("%w: found a kernel map (%s)", ErrNotLinear, k.Function.Kind)
	}
	p := &m.Meta.Preparation
	weights, constants = make([]float64, m.Q*p.D), make([]float64, m.Q)
	for r := range m.Q {
		row := m.W[r*m.D : (r+1)*m.D]
		for j, w := range row[:p.D] {
			if p.A == nil {
				weights[r*p.D+j] = float64(w)
				continue
			}
			weights[r*p.D+j] = float64(w) * float64(p.A[j])
			constants[r] += float64(float64(w) * float64(p.B[j]))
		}
		if p.Steps.Bias {
			constants[r] += float64(row[p.D])
		}
	}
	return weights, constants, nil
}
