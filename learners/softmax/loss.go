package softmax

import (
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// loss is the mean loss of the examples that the evaluator is aimed at, and a penalty:
// Σ_i u_i ℓ_i / Σ_i u_i + λ/2·‖W‖², a bias column left out.
type loss struct {
	eval    engine.Evaluator
	q, d    int
	bias    bool
	lambda  float64
	total   float64 // Σ u_i
	sums    []int64
	scored  []float32 // the weights whose scores the evaluator has; empty if that is not known
	unit    float64   // of the sums
	lossBit float64   // of the losses
}

func newLoss(eval engine.Evaluator, bias bool) *loss {
	_, d, q := eval.Shape()
	f := eval.FixedPoint()
	return &loss{
		eval: eval, q: q, d: d, bias: bias, sums: make([]int64, q*d),
		unit: math.Ldexp(1, -f.S), lossBit: math.Ldexp(1, -numerics.LossFormat(f.N).S),
	}
}

// aim makes it the loss of other targets; weights are those of t where use says so, else 0.
// A nil use is true of all.
func (l *loss) aim(t engine.Targets, n int, lambda float64, use func(i int) bool) error {
	l.lambda, l.total = lambda, 0
	if use != nil {
		t.Weight = slices.Clone(t.Weight)
		if t.Weight == nil {
			t.Weight = slices.Repeat([]float32{1}, n)
		}
		for i := range t.Weight {
			if !use(i) {
				t.Weight[i] = 0
			}
		}
	}
	if t.Weight == nil {
		l.total = float64(n)
	}
	for _, u := range t.Weight {
		l.total += float64(u)
	}
	return l.eval.SetTargets(t)
}

// at implements objective. Where an example is refused, the loss is +Inf.
func (l *loss) at(w []float32) (point, error) {
	l.scored = nil
	e, err := l.eval.Evaluate(l.sums, engine.Weights{Q: l.q, D: l.d, W: w})
	if err != nil {
		return point{}, err
	}
	l.scored = w
	p := point{w: w, loss: float64(e.Loss) * l.lossBit / l.total, grad: make([]float64, len(w))}
	if e.Refused > 0 {
		p.loss = math.Inf(1)
	}
	unit := l.unit / l.total
	parallel.Ranges(len(w), grain, func(from, to int) {
		for i := from; i < to; i++ {
			p.grad[i] = float64(l.sums[i]) * unit
			if !l.bias || i%l.d != l.d-1 {
				p.grad[i] += float64(l.lambda * float64(w[i]))
			}
		}
	})
	p.loss += float64(l.lambda / 2 * l.squares(w))
	return p, nil
}

// squares returns ‖W‖² without the bias column.
func (l *loss) squares(w []float32) float64 {
	if l.lambda == 0 {
		return 0
	}
	v := make([]float64, len(w))
	for i, f := range w {
		if !l.bias || i%l.d != l.d-1 {
			v[i] = float64(f)
		}
	}
	return dot(v, v)
}
