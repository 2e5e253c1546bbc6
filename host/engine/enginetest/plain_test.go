package enginetest_test

import (
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// loops are clauses 14 to 16 in pieces, for mutants to change.
type loops struct {
	block    int
	order    func(i, from, to int) int // which example of a block is the i-th
	value    func(x float32) float32   // of an example, as it is read
	multiply func(a, x, acc float32) float32
	whole    func(acc float32, f numerics.FixedPoint) int64

	dot          func(x, w []float32) float32
	exp, log     func(float32) float32
	share        func(e, sum float32) float32
	sum          func(e []float32) float32
	likelihood   func(score, t float32) float32
	posterior    func(m, m2, l, l2 float32) float32
	given        func(t, d, acc float32) float32
	weigh        func(residual, weight float32) float32
	weighLoss    func(loss, weight float32) float32
	refuse       func(scores []float32, loss, weight float32) bool
	refuseTarget func(m float32) bool
	whenRefused  func(v *engine.Evaluation, a []float32, loss float32)

	targets     func(before, now engine.Targets) engine.Targets
	coefficient func(a []float32, i, r, n, count int) float32
	losses      func(f numerics.FixedPoint, n int) numerics.FixedPoint
	sums        func(dst int64) int64                                  // what a sum starts from
	scored      func(r engine.LoadedEvaluator, w engine.Weights) error // after an evaluation
	summed      func(r engine.LoadedEvaluator) error                   // after weighted sums
}

// plainLoops are the loops of the contract.
func plainLoops() loops {
	return loops{
		block:    256,
		order:    func(i, from, to int) int { return i },
		value:    func(x float32) float32 { return x },
		multiply: numerics.FMA,
		whole: func(acc float32, f numerics.FixedPoint) int64 {
			return numerics.Quantize(acc, f.Scale())
		},

		dot: numerics.Dot, exp: numerics.Exp, log: numerics.Log,
		share: func(e, sum float32) float32 { return float32(e * numerics.Reciprocal(sum)) },
		sum: func(e []float32) (sum float32) {
			for _, v := range e {
				sum += v
			}
			return sum
		},
		likelihood: func(score, t float32) float32 { return score + t },
		posterior:  func(m, m2, l, l2 float32) float32 { return float32(m-m2) + float32(l-l2) },
		given:      func(t, d, acc float32) float32 { return numerics.FMA(-t, d, acc) },
		weigh:      func(v, weight float32) float32 { return float32(v * weight) },
		weighLoss:  func(v, weight float32) float32 { return float32(v * weight) },
		refuse: func(scores []float32, loss, weight float32) bool {
			for _, s := range scores {
				if s-s != 0 {
					return true
				}
			}
			return !(loss > -0x1p15 && loss < 0x1p15)
		},
		refuseTarget: func(m float32) bool { return m-m != 0 },
		whenRefused: func(v *engine.Evaluation, a []float32, loss float32) {
			v.Refused++
			clear(a)
		},
		targets:     func(before, now engine.Targets) engine.Targets { return now },
		coefficient: func(a []float32, i, r, n, count int) float32 { return a[i*count+r] },
		losses: func(f numerics.FixedPoint, n int) numerics.FixedPoint {
			return numerics.LossFormat(f.N)
		},
		sums:   func(int64) int64 { return 0 },
		scored: func(engine.LoadedEvaluator, engine.Weights) error { return nil },
		summed: func(engine.LoadedEvaluator) error { return nil },
	}
}

// looped is a driver whose evaluators are loops around another driver's scorers.
type looped struct {
	engine.Driver
	loops loops
}

func (d looped) Load(x dataset.Examples, t engine.Task) (engine.Loaded, error) {
	r, err := d.Driver.Load(x, t)
	if err != nil || t.Use != engine.UseEvaluator {
		return r, err
	}
	return &evaluator{LoadedEvaluator: r.(engine.LoadedEvaluator), loops: d.loops, format: t.Format,
		x: dense(x)}, nil
}

// dense returns x with all its values.
func dense(x dataset.Examples) dataset.Examples {
	if !x.Sparse() {
		return x
	}
	z := dataset.Examples{N: x.N, D: x.D, X: make([]float32, x.N*x.D)}
	for i := range x.N {
		columns, values := x.SparseRow(i)
		for k, j := range columns {
			z.Row(i)[j] = values[k]
		}
	}
	return z
}

type evaluator struct {
	engine.LoadedEvaluator
	loops
	format numerics.FixedPoint
	x      dataset.Examples
	t      engine.Targets
}

func (r *evaluator) SetTargets(t engine.Targets) error {
	err := r.LoadedEvaluator.SetTargets(t)
	if err == nil {
		r.t = r.targets(r.t, t)
	}
	return err
}

func (r *evaluator) Evaluate(sums []int64, w engine.Weights) (engine.Evaluation, error) {
	if _, err := r.LoadedEvaluator.Evaluate(make([]int64, len(sums)), w); err != nil ||
		len(sums) != w.Q*w.D {
		return engine.Evaluation{}, err
	}
	var v engine.Evaluation
	a := make([]float32, r.x.N*w.Q)
	for i := range r.x.N {
		row, weight := i, float32(1)
		if r.t.Row != nil {
			row = int(r.t.Row[i])
		}
		if r.t.Weight != nil {
			weight = r.t.Weight[i]
		}
		scores := make([]float32, w.Q)
		for c := range scores {
			scores[c] = r.dot(r.x.Row(i), w.Row(c))
		}
		residuals := a[i*w.Q : (i+1)*w.Q]
		loss := r.residual(residuals, scores, r.t.Values[row*w.Q:(row+1)*w.Q], weight)
		if r.refuse(scores, loss, weight) {
			r.whenRefused(&v, residuals, loss)
		} else {
			v.Loss += r.whole(loss, r.losses(r.format, r.x.N))
		}
	}
	r.add(sums, a, w.Q)
	return v, r.scored(r.LoadedEvaluator, w)
}

// residual writes an example's residuals to a and returns its loss.
func (r *evaluator) residual(a, scores, t []float32, weight float32) (loss float32) {
	m, l, p := r.softmax(scores)
	if r.t.Given {
		loss = l
		for k := range t {
			loss = r.given(t[k], scores[k]-m, loss)
			a[k] = r.weigh(p[k]-t[k], weight)
		}
		return r.weighLoss(loss, weight)
	}
	v := make([]float32, len(t))
	for k := range v {
		v[k] = r.likelihood(scores[k], t[k])
	}
	m2, l2, p2 := r.softmax(v)
	if r.refuseTarget(m2) {
		return float32(math.NaN())
	}
	for k := range a {
		a[k] = r.weigh(p[k]-p2[k], weight)
	}
	return r.weighLoss(r.posterior(m, m2, l, l2), weight)
}

func (r *evaluator) softmax(s []float32) (m, l float32, p []float32) {
	m = s[0]
	for _, v := range s {
		m = max(m, v)
	}
	for _, v := range s {
		p = append(p, r.exp(v-m))
	}
	sum := r.sum(p)
	for k := range p {
		p[k] = r.share(p[k], sum)
	}
	return m, r.log(sum), p
}

func (r *evaluator) WeightedSums(sums []int64, a []float32) error {
	if err := r.LoadedEvaluator.WeightedSums(make([]int64, len(sums)), a); err != nil {
		return err
	}
	r.add(sums, a, len(a)/r.x.N)
	return r.summed(r.LoadedEvaluator)
}

// add writes weighted sums by count coefficients of each example.
func (r *evaluator) add(sums []int64, a []float32, count int) {
	f := r.format
	for c := range count {
		for j := range r.x.D {
			total := r.sums(sums[c*r.x.D+j])
			for from := 0; from < r.x.N; from += r.block {
				to, acc := min(from+r.block, r.x.N), float32(0)
				for i := from; i < to; i++ {
					at := r.order(i, from, to)
					acc = r.multiply(r.coefficient(a, at, c, r.x.N, count), r.value(r.x.X[at*r.x.D+j]), acc)
				}
				total += r.whole(acc, f)
			}
			sums[c*r.x.D+j] = total
		}
	}
}
