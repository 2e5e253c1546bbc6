package shard

import (
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// evaluator adds up the weighted sums and losses of the shards (clauses 14 and 16).
type evaluator struct {
	scorer
	fixed numerics.FixedPoint
}

func (r *evaluator) FixedPoint() numerics.FixedPoint { return r.fixed }

func (r *evaluator) SetTargets(t engine.Targets) error {
	return r.e.agree(r.all(func(_ int, p part) error {
		part := t
		if t.Row != nil {
			part.Row = t.Row[p.from:p.to]
		} else {
			part.Values = t.Values[p.from*r.q : p.to*r.q]
		}
		if t.Weight != nil {
			part.Weight = t.Weight[p.from:p.to]
		}
		return p.evaluator.SetTargets(part)
	}))
}

func (r *evaluator) Evaluate(sums []int64, w engine.Weights) (engine.Evaluation, error) {
	found := make([]engine.Evaluation, len(r.parts))
	err := r.addAll(sums, func(i int, p part, sums []int64) (err error) {
		found[i], err = p.evaluator.Evaluate(sums, w)
		return err
	})
	numbers := []int64{0, 0}
	for _, f := range found {
		add(numbers, []int64{f.Loss, f.Refused})
	}
	if err := r.e.sum(err, r.e.print(w), sums, numbers); err != nil {
		return engine.Evaluation{}, err
	}
	return engine.Evaluation{Loss: numbers[0], Refused: numbers[1]}, nil
}

func (r *evaluator) WeightedSums(sums []int64, a []float32) error {
	count := len(a) / r.n
	err := r.addAll(sums, func(_ int, p part, sums []int64) error {
		return p.evaluator.WeightedSums(sums, a[p.from*count:p.to*count])
	})
	return r.e.sum(err, 0, sums)
}
