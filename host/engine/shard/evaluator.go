package shard

import (
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// evaluator adds up the weighted sums and losses of the shards (clauses 14 and 16).
type evaluator struct {
	scorer
	fixed  numerics.FixedPoint
	others [][]int64 // sums of the parts but the first
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

// room returns where part i writes its sums, as long as sums.
func (r *evaluator) room(i int, sums []int64) []int64 {
	if i == 0 {
		return sums
	}
	if cap(r.others[i]) < len(sums) {
		r.others[i] = make([]int64, len(sums))
	}
	r.others[i] = r.others[i][:len(sums)]
	return r.others[i]
}

// total adds the sums of all parts of all ranks up in sums, and other numbers of this rank's parts
// over all ranks, unless err or that of another rank is not nil. same is as in ranks.sum.
func (r *evaluator) total(err error, same int64, sums []int64, numbers ...int64) ([]int64, error) {
	if len(r.parts) == 0 {
		clear(sums)
	}
	if err == nil {
		for i := 1; i < len(r.parts); i++ {
			add(sums, r.others[i])
		}
	}
	return numbers, r.e.sum(err, same, sums, numbers)
}

func (r *evaluator) Evaluate(sums []int64, w engine.Weights) (engine.Evaluation, error) {
	found := make([]engine.Evaluation, len(r.parts))
	err := r.all(func(i int, p part) (err error) {
		found[i], err = p.evaluator.Evaluate(r.room(i, sums), w)
		return err
	})
	var e engine.Evaluation
	for _, f := range found {
		e.Loss += f.Loss
		e.Refused += f.Refused
	}
	numbers, err := r.total(err, r.e.print(w), sums, e.Loss, e.Refused)
	if err != nil {
		return engine.Evaluation{}, err
	}
	return engine.Evaluation{Loss: numbers[0], Refused: numbers[1]}, nil
}

func (r *evaluator) WeightedSums(sums []int64, a []float32) error {
	count := len(a) / r.n
	err := r.all(func(i int, p part) error {
		return p.evaluator.WeightedSums(r.room(i, sums), a[p.from*count:p.to*count])
	})
	_, err = r.total(err, 0, sums)
	return err
}
