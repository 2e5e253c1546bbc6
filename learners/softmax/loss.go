package softmax

import (
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/learners"
)

// loss is the mean loss of the examples that the evaluator is aimed at, and a penalty:
// Σ_i u_i ℓ_i / Σ_i u_i + λ/2·‖W‖², a bias column left out.
type loss struct {
	eval    *engine.Evaluator
	q, d    int
	bias    bool
	lambda  float64
	total   float64 // Σ u_i
	sums    []int64
	scored  []float32          // whose scores the evaluator has; empty if not known
	answer  *engine.Evaluation // of scored, as are sums; nil if that is not known
	unit    float64            // of the sums
	lossBit float64            // of the losses

	evaluations float64 // since the run began or went on; of a part by its share of the examples
}

func newLoss(eval *engine.Evaluator, bias bool) *loss {
	_, d, q := eval.Shape()
	f := eval.FixedPoint()
	return &loss{
		eval: eval, q: q, d: d, bias: bias, sums: make([]int64, q*d),
		unit: math.Ldexp(1, -f.S), lossBit: math.Ldexp(1, -numerics.LossFormat(f.N).S),
	}
}

// aim sets the targets. Examples for which use returns false get weight 0; a nil use keeps all.
func (l *loss) aim(t engine.Targets, n int, use func(i int) bool) error {
	l.answer, l.total = nil, 0
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

// rescore has the evaluator score all examples by w, unless it has done that last.
func (l *loss) rescore(w []float32) error {
	if slices.Equal(l.scored, w) {
		return nil
	}
	l.scored, l.answer = slices.Clone(w), nil
	return l.eval.Rescore(engine.Weights{Q: l.q, D: l.d, W: w}, learners.AllClasses(l.q))
}

// at looks at w. Where an example is refused, the loss is +Inf.
func (l *loss) at(w []float32) (point, error) {
	if l.answer == nil || !slices.Equal(l.scored, w) {
		l.scored, l.answer = nil, nil
		e, err := l.eval.Evaluate(l.sums, engine.Weights{Q: l.q, D: l.d, W: w})
		if err != nil {
			return point{}, err
		}
		l.scored, l.answer = w, &e
		l.evaluations++
	}
	grad := make([]float64, len(w))
	p := point{w: w, loss: float64(l.answer.Loss) * l.lossBit / l.total, grad: grad}
	if l.answer.Refused > 0 {
		p.loss = math.Inf(1)
	}
	unit := l.unit / l.total
	p.loss += l.penalty(len(w), l.lambda, func(from, to int, lambda float64) (squares float64) {
		for i := from; i < to; i++ {
			v := float64(w[i])
			grad[i] = float64(float64(l.sums[i])*unit) + float64(lambda*v)
			squares += float64(v * v)
		}
		return squares
	}) / 2
	return p, nil
}

// penalise adjusts L-BFGS pairs for a penalty increase of λ.
func (l *loss) penalise(pairs []pair, lambda float64) {
	for k := range pairs {
		p := &pairs[k]
		p.scale = 0
		p.SY += l.penalty(len(p.S), lambda, func(from, to int, lambda float64) (squares float64) {
			for i := from; i < to; i++ {
				v := float64(p.S[i])
				p.Y[i] += float32(lambda * v)
				squares += float64(v * v)
			}
			return squares
		})
	}
}

// penalty returns λ times the sum of what f returns of consecutive ranges of n weights. f is given
// λ too, or 0 for the bias.
func (l *loss) penalty(n int, lambda float64, f func(from, to int, lambda float64) float64,
) float64 {
	return lambda * total(n, func(from, to int) (sum float64) {
		for from < to {
			end := to
			if l.bias {
				end = min(to, from/l.d*l.d+l.d-1)
			}
			if sum += f(from, end, lambda); end < to {
				f(end, end+1, 0)
				end++
			}
			from = end
		}
		return sum
	})
}
