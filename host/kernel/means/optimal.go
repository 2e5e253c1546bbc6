package means

import (
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// stops is by how much the sum of the terms of Corollary 23 may exceed what all candidates have.
const stops = 1.05

// optimal gives the atoms of m the weights with which their span is nearest to each exact mean,
// β_k = K⁻¹·⟨ω_k, φ(atoms)⟩, drops atoms that the others stand for already, for Auto also those
// that are not worth it, and sets Error.
func (s *sample) optimal(m *Means) error {
	m.Bound = nil
	a, q := m.Landmarks.N, len(s.sizes)
	if err := memory.Check(memory.Product(a, a, 12), fmt.Sprintf("kernel values of %d atoms",
		a)); err != nil {
		return err
	}
	values, err := s.project(m.Landmarks, engine.Projection{Function: s.o.Function,
		Landmarks: m.Landmarks})
	if err != nil {
		return err
	}
	means, err := s.exactAt(m.Rows)
	if err != nil {
		return err
	}
	l, order, err := factor(s.ctx, values, a)
	if err != nil {
		return err
	}
	if len(order) == 0 {
		return fmt.Errorf("kernel mean: %w: found atoms that are all 0 in feature space, or values that "+
			"overflow float32; scale the examples, or take another kernel function", ErrOptions)
	}
	solved := make([][]float64, q) // L⁻¹·⟨ω_k, φ(atoms)⟩
	for k := range q {
		right := make([]float64, len(order))
		for t, at := range order {
			right[t] = float64(means[at*q+k])
		}
		l.forward(right)
		solved[k] = right
	}
	m.Dropped = a - len(order)
	all, rows := m.Landmarks, m.Rows
	keep := func(n int) (err error) {
		m.Landmarks, m.Rows = all.Pick(order[:n]), make([]int, n)
		exact := make([]float32, 0, n*q)
		for t, at := range order[:n] {
			m.Rows[t] = rows[at]
			exact = append(exact, means[at*q:(at+1)*q]...)
		}
		m.Axes = engine.NewWeights(q, n)
		for k := range q {
			l.backward(m.Axes.Row(k), solved[k][:n])
		}
		m.Error, err = s.errors(m.Projection, exact)
		return err
	}
	if err := keep(len(order)); err != nil || s.o.Atoms != Auto {
		return err
	}
	best := *m
	most := stops * s.sum(m)
	for n := len(order); n > q; {
		n = max(q, int(float64(n)/math.Sqrt2))
		if err := keep(n); err != nil {
			return err
		}
		if s.sum(m) > most {
			break
		}
		best = *m
	}
	*m = best
	return nil
}

// sum returns Statistical + Error, weighed as the classes are.
func (s *sample) sum(m *Means) float64 {
	sum := 0.0
	for k, n := range s.sizes {
		sum += float64(float64(n) * (m.Statistical[k] + m.Error[k]))
	}
	return sum / float64(len(s.y))
}
