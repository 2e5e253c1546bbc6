package versionspace

import (
	"fmt"
	"math"
)

// AnalyticCentre returns the analytic centre, of d numbers: the point where the product of the
// distances from all walls, Π_k ⟨w, c_k⟩·(1 - ‖w‖²), is largest (Sonnevend, Lecture Notes in
// Control and Information Sciences 84, 1986; of version spaces Trafalis and Malyscheff, An analytic
// center machine, Machine Learning 46, 2002).
//
// Newton's steps find it, the first from the centre of Ball. A long step is made shorter by 1/(1 +
// λ), λ² being what it promises to gain twice: the barrier, minus the logarithm of the product,
// falls for certain then (Nesterov and Nemirovskii, Interior-point polynomial algorithms, 1994).
//
// The errors are those of Ball, and that rounding kept the steps from an end.
func (s *Space) AnalyticCentre() ([]float64, error) {
	ball, err := s.Ball()
	if err != nil || s.m == 0 {
		return ball.Centre, err
	}
	soft, err := NewSoft(s.d, s.rows, 1) // the walls in the form that precision takes
	if err != nil {
		return nil, err
	}
	w, step, curvature := ball.Centre, make([]float64, s.d), make([]float64, s.d*soft.stride)
	distance, weight := make([]float64, s.m), make([]float64, s.m)
	last := math.Inf(1)
	for range mostSteps {
		s.products(distance, w)
		left := 1 - dot(w, w)
		clear(step)
		for k, p := range distance {
			addScaled(step, 1/p, s.row(k))
			weight[k] = left / float64(2*float64(p*p))
		}
		addScaled(step, -2/left, w) // minus the gradient
		// The second derivative, in units of 2/left: I + Σ_k weight·c_k·c_kᵀ + 2/left·w·wᵀ.
		soft.precision(curvature, weight)
		for i, v := range w {
			addScaled(curvature[i*soft.stride:i*soft.stride+i+1], 2/left*v, w[:i+1])
		}
		if !cholesky(curvature, soft.stride, s.d) {
			break
		}
		forward(step, curvature, step, soft.stride)
		decrement := math.Sqrt(float64(dot(step, step)*left) / 2)
		backward(step, curvature, soft.stride)
		if decrement <= 1e-12 || decrement <= 1e-6 && decrement >= last {
			return w, nil // the last steps are rounding
		}
		last = decrement
		by := left / 2
		if decrement > 0.25 {
			by /= 1 + decrement
		}
		addScaled(w, by, step)
	}
	return nil, fmt.Errorf("version space of %d constraints in %d dimensions: found no analytic "+
		"centre in %d steps, wanted one: rounding hides the inside of a space as thin as that, so leave "+
		"constraints out that nearly touch it, or scale features alike", s.m, s.d, mostSteps)
}

// mostSteps is more than any space took that rounding leaves an inside.
const mostSteps = 1000
