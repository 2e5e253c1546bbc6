package enginetest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// evaluation is one data set that is evaluated at several weights, each time with other
// targets.
type evaluation struct {
	problem       // y and inv are not used
	aims    []aim // nil for all that fit
	counts  []int // coefficients of an example in weighted sums; nil for 1 and 3
}

// check takes the engine and the naive computation through the targets, at W = 0 and others,
// with all that may be asked in between.
func (k evaluation) check(e engine.Engine) error {
	x, _, _, rng := k.build()
	form := x
	if k.sparse {
		form = x.Compressed().Stored()
	}
	v := newNaive(x.Examples, nil, k.q)
	if k.aims == nil {
		k.aims = everyAim
	}
	if k.counts == nil {
		k.counts = []int{1, 3}
	}
	return guarded(form, nil, nil, func(gx dataset.Stored, _ []int32, _ []float32) error {
		r, err := e.LoadEvaluator(gx, k.q, numerics.FixedPoint{})
		if err != nil {
			return err
		}
		if got, want := r.FixedPoint(), (numerics.FixedPoint{S: v.s, N: k.n}); got != want {
			return fmt.Errorf("fixed point %+v, want %+v", got, want)
		}
		if n, d, q := r.Shape(); n != k.n || d != k.d || q != k.q {
			return fmt.Errorf("shape %d, %d, %d, want %d, %d, %d", n, d, q, k.n, k.d, k.q)
		}
		w := engine.NewWeights(k.q, k.d)
		for round, a := range k.aims {
			at := evaluating{k, r, v, rng, fmt.Sprintf("%v, round %d", k.dense(), round)}
			if err := at.targets(a, w); err != nil {
				return fmt.Errorf("round %d, %s: %w", round, a.name, err)
			}
			if round < len(k.counts) {
				if err := at.weightedSums(k.counts[round]); err != nil {
					return fmt.Errorf("round %d: %w", round, err)
				}
			}
			if err := at.afterwards(w, round); err != nil {
				return fmt.Errorf("round %d: after the evaluation: %w", round, err)
			}
		}
		return r.Close()
	})
}

// evaluating is an evaluation under way.
type evaluating struct {
	k    evaluation
	r    engine.Evaluator
	v    *naive
	rng  *rand.Rand
	name string // of the round
}

// targets evaluates w, then other weights, which stay in w.
func (at evaluating) targets(a aim, w engine.Weights) error {
	return fenced(a.draw(at.rng, at.k.n, at.k.q), func(t engine.Targets) error {
		if err := at.r.SetTargets(t); err != nil {
			return err
		}
		for step := range 2 {
			if step == 1 {
				for j := range w.W {
					w.W[j] = orNormal(at.k.weight)(at.rng)
				}
			}
			name := fmt.Sprintf("%s, weights %d", at.name, step)
			want := remember(&expected, name, func() evaluated { return at.v.evaluate(w, t) })
			copy(at.v.scores, want.scores)
			if err := sameEvaluation(at.r, w, want); err != nil {
				return fmt.Errorf("weights %d: %w", step, err)
			}
		}
		return nil
	})
}

// sameEvaluation evaluates w and compares all that can be asked for then.
func sameEvaluation(r engine.Evaluator, w engine.Weights, want evaluated) error {
	n, _, _ := r.Shape()
	whole, given := fence(w.W)
	var got engine.Evaluation
	err := into(want.sums, "sum", same[int64], func(sums []int64) (err error) {
		got, err = r.Evaluate(sums, engine.Weights{Q: w.Q, D: w.D, W: given})
		if err == nil && got != want.Evaluation {
			err = fmt.Errorf("evaluation %+v, want %+v", got, want.Evaluation)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := intact("weights", whole); err != nil {
		return err
	}
	if err := sameFloats("weights after use", given, w.W); err != nil {
		return err
	}
	return into(want.scores, "score", sameFloats, func(dst []float32) error {
		return r.Scores(dst, 0, n)
	})
}

// weightedSums asks for sums of so many hard coefficients of each example.
func (at evaluating) weightedSums(count int) error {
	a := make([]float32, at.k.n*count)
	for i := range a {
		a[i] = coefficient(at.rng)
		if i/count/256 == 1 && i%count == count-1 { // a block of zeros
			a[i] = 0
		}
	}
	want := remember(&expected, at.name+", weighted sums",
		func() []int64 { return at.v.weightedSums(a) })
	whole, given := fence(a)
	what := fmt.Sprintf("weighted sums of %d coefficients", count)
	if err := into(want, what, same[int64], func(sums []int64) error {
		return at.r.WeightedSums(sums, given)
	}); err != nil {
		return err
	}
	if err := intact("coefficients", whole); err != nil {
		return err
	}
	return sameFloats("coefficients after use", given, a)
}

func coefficient(r *rand.Rand) float32 {
	switch r.IntN(8) {
	case 0:
		return signedZeros(r) // 1 and -1 as well
	case 1:
		return float32(r.IntN(5)-2) / 2
	case 2:
		return subnormal(r)
	case 3:
		return float32(r.NormFloat64() * 0x1p-60)
	}
	return float32(2*r.Float64() - 1)
}

// afterwards asks for what a Scorer is asked for, with the scores of the evaluation, and
// with some of them computed anew from other weights.
func (at evaluating) afterwards(w engine.Weights, round int) error {
	other := w.Clone()
	for step, changed := range [][]int{nil, {at.k.q - 1}, at.rng.Perm(at.k.q)} {
		if step == 2 && round > 0 {
			continue // once is enough
		}
		for _, c := range changed {
			for j := range other.Row(c) {
				other.Row(c)[j] = orNormal(at.k.weight)(at.rng)
			}
		}
		if err := at.r.Rescore(other, changed); err != nil {
			return err
		}
		scores := remember(&expected, fmt.Sprintf("%s, rescored %d", at.name, step), func() []float32 {
			at.v.rescore(other, changed)
			return slices.Clone(at.v.scores)
		})
		copy(at.v.scores, scores)
		from := at.rng.IntN(at.k.n)
		to := from + at.rng.IntN(at.k.n-from+1)
		for _, rows := range [][2]int{{0, at.k.n}, {from, to}} {
			want := scores[rows[0]*at.k.q : rows[1]*at.k.q]
			if err := into(want, "score", sameFloats, func(dst []float32) error {
				return at.r.Scores(dst, rows[0], rows[1])
			}); err != nil {
				return err
			}
		}
		pred := make([]int32, at.k.n)
		for i := range pred {
			c, _ := at.v.predict(i)
			pred[i] = int32(c)
		}
		if err := into(pred, "predict", same[int32], at.r.Predict); err != nil {
			return err
		}
	}
	return nil
}
