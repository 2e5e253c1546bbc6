package enginetest

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// evaluationParts have parts of a data set, cut at a multiple of 256 examples, whose sums and
// losses add up to the whole's.
func evaluationParts() []Case {
	var all []Case
	for _, k := range []parts{
		{name: "parts", n: 700, d: 19, q: 4, first: 256, times: 1},
		{name: "parts, a short one", n: 513, d: 5, q: 3, first: 512, times: 1},
		{name: "parts, sparse", n: 600, d: 30, q: 3, first: 512, times: 1, sparse: true},
		{name: "parts of bytes", n: 520, d: 19, q: 4, first: 256, times: 1, narrow: 1},
		{name: "parts of very different values", n: 512, d: 10, q: 3, first: 256, times: 1, spread: true},
		{name: "parts of a larger set, in a coarse format", n: 300, d: 10, q: 3, first: 256, times: 1000,
			coarse: 21},
		{name: "parts of a set as large as can be", n: 280, d: 7, q: 3, first: 256,
			times: numerics.MostExamples / 280},
	} {
		all = append(all, Case{"evaluate: " + k.name, k.checkEvaluation})
	}
	return all
}

// checkEvaluation compares the whole and the added parts with the naive computation.
func (k parts) checkEvaluation(e engine.Engine) (err error) {
	rng := rand.New(rand.NewPCG(uint64(k.n), uint64(k.first)))
	x := k.draw(rng)
	v := newNaive(x.Examples, nil, k.q)
	v.total *= k.times
	v.s = v.format() - k.coarse
	f := numerics.FixedPoint{S: v.s, N: v.total}
	t := drawRows(rng, k.n, k.q)
	w, a := engine.NewWeights(k.q, k.d), make([]float32, k.n)
	for j := range w.W {
		w.W[j] = normal(rng)
	}
	for i := range a {
		a[i] = coefficient(rng)
	}
	want := remember(&expected, "evaluation of "+k.name, func() evaluated { return v.evaluate(w, t) })
	var got, sums [3][]int64
	var found [3]engine.Evaluation
	for at, part := range [][2]int{{0, k.n}, {0, k.first}, {k.first, k.n}} {
		form := x.Rows(part[0], part[1])
		if k.sparse {
			form = form.Compressed().Stored()
		}
		r, err := e.LoadEvaluator(form, k.q, f)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.Close()) }()
		if r.FixedPoint() != f {
			return fmt.Errorf("fixed point %+v, want %+v", r.FixedPoint(), f)
		}
		if err := r.SetTargets(engine.Targets{
			Values: t.Values[part[0]*k.q : part[1]*k.q], Weight: t.Weight[part[0]:part[1]],
		}); err != nil {
			return err
		}
		got[at], sums[at] = make([]int64, k.q*k.d), make([]int64, k.d)
		if found[at], err = r.Evaluate(got[at], w); err != nil {
			return err
		}
		if err := r.WeightedSums(sums[at], a[part[0]:part[1]]); err != nil {
			return err
		}
	}
	added := engine.Evaluation{Loss: found[1].Loss + found[2].Loss, Refused: found[1].Refused +
		found[2].Refused}
	if found[0] != want.Evaluation || added != want.Evaluation {
		return fmt.Errorf("evaluation of the whole %+v, of the parts %+v, want %+v", found[0], added,
			want.Evaluation)
	}
	alone := v.weightedSums(a)
	return errors.Join(
		same("sums of the whole", got[0], want.sums), same("added sums", add(got[1], got[2]), want.sums),
		same("weighted sums of the whole", sums[0], alone), same("added weighted sums", add(sums[1],
			sums[2]), alone))
}

// checkEvaluateFormats gives formats that can hold the examples, and others.
func checkEvaluateFormats(e engine.Engine) error {
	x, _ := small() // the largest value is 6, so s is at most 62 - 2 - 3
	for _, f := range []numerics.FixedPoint{
		{S: 58, N: 3}, {S: 57, N: 4}, {S: 57, N: 2}, {S: -127, N: 3}, {S: 57}, {S: 3, N: -3},
		{S: 1, N: numerics.MostExamples + 1}, {S: 6, N: numerics.MostExamples},
	} {
		if r, err := e.LoadEvaluator(x, 2, f); !errors.Is(err, engine.ErrShape) || r != nil {
			return fmt.Errorf("format %+v: %v, want %v", f, err, engine.ErrShape)
		}
	}
	largest := dataset.Examples{N: 3, D: 2, X: []float32{0x1p118, -0x1p118, 0x1p118, 1, 0x1p-126,
		-0x1p-149}}
	for _, c := range []struct {
		x         dataset.Examples
		has, want numerics.FixedPoint
	}{
		{x, numerics.FixedPoint{}, numerics.FixedPoint{S: 57, N: 3}},
		{x, numerics.FixedPoint{S: 56, N: 4}, numerics.FixedPoint{S: 56, N: 4}},
		{x, numerics.FixedPoint{S: -126, N: 3}, numerics.FixedPoint{S: -126, N: 3}},
		{x, numerics.FixedPoint{S: -2, N: 3}, numerics.FixedPoint{S: -2, N: 3}}, // 6 is one and a half
		{x, numerics.FixedPoint{S: 5, N: numerics.MostExamples}, numerics.FixedPoint{S: 5,
			N: numerics.MostExamples}},
		{largest, numerics.FixedPoint{}, numerics.FixedPoint{S: 62 - 2 - 119, N: 3}},
	} {
		r, err := e.LoadEvaluator(c.x, 2, c.has)
		if err != nil {
			return err
		}
		if got := r.FixedPoint(); got != c.want {
			return fmt.Errorf("fixed point %+v, want %+v", got, c.want)
		}
		v := newNaive(c.x, nil, 2)
		v.s, v.total = c.want.S, c.want.N
		for _, a := range [][]float32{{1, 1, 1}, {1, -1, -1}, {-1, 0.5, 0.5}, {0x1p-60, 1, -0x1p-149}} {
			if err := into(v.weightedSums(a[:3]), fmt.Sprintf("weighted sums by %v in %+v", a, c.want),
				same[int64], func(sums []int64) error { return r.WeightedSums(sums, a[:3]) }); err != nil {
				return err
			}
		}
		if err := r.Close(); err != nil {
			return err
		}
	}
	return nil
}
