package model

import (
	"errors"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/setting"
)

// ErrFold marks models that Fold cannot fold.
var ErrFold = errors.New("the model cannot be folded")

// Fold returns a model that has W and the preparation of components in its axes: one row of
// landmarks' weights for each class, Σ_t W[q][t]·a_t·Axes[t][l], and W is the identity. It
// predicts with Q numbers of an example in place of the components. Weights are added in float64
// and rounded to float32 once, so scores differ by what float32 rounds, and classes where two
// scores are as near.
//
// A last step l2 of the components' preparation is left out: it divides the scores of an example
// by one number, which moves no class, but the temperature, fitted to such scores, goes with it.
// So does the estimated error, which is of other bits. The new model shares landmarks with m.
// Errors: ErrFold, of a model without a kernel map or whose training had not ended.
func (m *Model) Fold() (*Model, error) {
	wrong := func(found, wanted string) error {
		return fmt.Errorf("%w: found %s, wanted %s", ErrFold, found, wanted)
	}
	k, p := m.Meta.Kernel, m.Projection
	switch {
	case p == nil:
		return nil, wrong("a model that is linear in its features",
			"one with a kernel map ("+setting.Spell("kernel", "")+")")
	case m.State != nil:
		return nil, wrong("a training that had not ended", "a model; end the training ("+
			setting.Spell("resume", "")+")")
	}
	q, landmarks := m.Q, p.Landmarks.N
	axes, offset := make([]float32, q*landmarks), make([]float32, q)
	sums := make([]float64, landmarks)
	for r := range q {
		clear(sums)
		constant := 0.0
		w := m.W[r*m.D : (r+1)*m.D]
		for t := range k.Components {
			a, b := 1.0, 0.0
			if k.Preparation.A != nil {
				a, b = float64(k.Preparation.A[t]), float64(k.Preparation.B[t])
			}
			weight := float64(w[t]) * a
			for l, v := range p.Axes[t*landmarks : (t+1)*landmarks] {
				sums[l] += float64(weight * float64(v))
			}
			constant += float64(weight*float64(p.Offset[t])) + float64(float64(w[t])*b)
		}
		if k.Preparation.Steps.Bias {
			constant += float64(w[k.Components])
		}
		offset[r] = float32(constant)
		for l, v := range sums {
			axes[r*landmarks+l] = float32(v)
		}
	}
	folded := *m
	folded.D, folded.W = q, make([]float32, q*q)
	for r := range q {
		folded.W[r*q+r] = 1
	}
	kernel := *k
	kernel.Components, kernel.Preparation, kernel.Examples = q, dataset.Preparation{D: q}, nil
	folded.Meta.Kernel, folded.Meta.EstimatedError = &kernel, nil
	folded.Projection = &Projection{Landmarks: p.Landmarks, Axes: axes, Offset: offset}
	if k.Preparation.Steps.L2 {
		folded.Meta.Temperature, folded.Meta.TemperatureFolds, folded.Meta.Sets = 0, 0, nil
	}
	return &folded, folded.check()
}
