package enginetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

func evaluations() []problem {
	var all []problem
	for _, n := range []int{1, 15, 16, 17, 255, 256, 257, 511, 512, 513, 515, 1027} {
		all = append(all, problem{name: "n", n: n, d: 7, q: 3, targets: []drawTargets{labels, soft}})
	}
	for _, d := range []int{1, 2, 4, 15, 16, 17, 31, 32, 33, 63, 65, 255, 256, 257, 259} {
		p := problem{name: "d", n: 259, d: d, q: 2, targets: []drawTargets{labels, backward}}
		if d > 100 {
			p.n, p.targets = 20, p.targets[:1]
		}
		all = append(all, p)
	}
	for _, q := range []int{1, 2, 3, 10, 15, 16, 17, 31, 33, 64, 200} {
		p := problem{name: "Q", n: 33, d: 3, q: q}
		if q == 1 || q == 10 {
			p.n = 260
		}
		all = append(all, p)
	}
	once := []drawTargets{labels}
	return append(all, []problem{
		{name: "all sizes odd", n: 519, d: 67, q: 7},
		{name: "all sizes odd, two chunks", n: 261, d: 259, q: 3, targets: once},
		{name: "many sums", n: 300, d: 5, q: 3, counts: []int{40, 3, 1}},
		{name: "equal scores", n: 300, d: 4, q: 5, value: digits, weight: digits},
		{name: "negative zero", n: 280, d: 5, q: 4, value: signedZeros, weight: signedZeros},
		{name: "midpoints", n: 300, d: 17, q: 4, value: midpoints, weight: midpoints},
		{name: "subnormal products", n: 270, d: 40, q: 4, value: tiny, weight: tiny},
		{name: "subnormal values", n: 270, d: 9, q: 3, value: subnormal},
		{name: "sums that cancel", n: 600, d: 5, q: 3, value: cancelling},
		{name: "scores far apart", n: 300, d: 12, q: 5, weight: strong},
		{name: "losses around the largest", n: 270, d: 3, q: 3, value: powers, weight: losing},
		{name: "scores that overflow", n: 300, d: 6, q: 4, value: bulky, weight: bulky},
		{name: "some scores that overflow", n: 300, d: 6, q: 4, value: pixels, weight: sometimes},
		{name: "wide exponents", n: 400, d: 20, q: 4, value: wide, weight: wide},
		{name: "largest values", n: 600, d: 5, q: 3, value: mostly, weight: faint},
		{name: "all zero", n: 260, d: 18, q: 3, value: zero},
		{name: "rows of all lengths", n: 300, d: 70, q: 3, // some of none
			edit: keepOnly(func(i, j, _ int) bool { return i%67 != 13 && j%(i%40+1) == 0 })},
		{name: "columns of all lengths", n: 1100, d: 13, q: 3, edit: columnsOfAllLengths},
		{name: "nearly empty", n: 300, d: 1090, q: 2, edit: thinOut, targets: once},
		{name: "bytes", n: 301, d: 37, q: 7, narrow: 1},
		{name: "bytes of few columns", n: 520, d: 3, q: 5, narrow: 1},
		{name: "bytes of two chunks", n: 100, d: 259, q: 3, narrow: 1},
		{name: "halves", n: 301, d: 37, q: 7, narrow: 2},
		{name: "halves of many classes", n: 95, d: 20, q: 40, narrow: 2},
	}...)
}

// columnsOfAllLengths leaves a column full, one empty, one that only the last examples have,
// one that each block has once, and of the others fewer and fewer values.
var columnsOfAllLengths = keepOnly(func(i, j, _ int) bool {
	first := []bool{true, false, i >= 1097, i%256 == 255, i%256 == 0, i < 256, i >= 256 && i < 512}
	if i%29 == 5 {
		return false
	}
	if j < len(first) {
		return first[j]
	}
	return i%(1<<(j-len(first))) == 0
})

// EvaluationCases are the cases of clauses 14 to 16.
func EvaluationCases() []Case {
	all := append(cases("evaluate: ", problem.checkEvaluation, evaluations()...), evaluationParts()...)
	return append(all, Case{"evaluate: limits of losses", checkLimits},
		Case{"evaluate: rounding", checkEvaluateRounding},
		Case{"evaluate: targets that change", checkTargets},
		Case{"evaluate: errors", checkEvaluateErrors},
		Case{"evaluate: formats", checkEvaluateFormats}, Case{"evaluate: plan", checkEvaluatePlan})
}

// tinyEvaluations are for an interpreter of kernels.
func tinyEvaluations() []Case {
	kinds := func(kinds ...drawTargets) []drawTargets { return kinds }
	return cases("evaluate: ", problem.checkEvaluation, []problem{
		{name: "tiny", n: 1, d: 1, q: 2},
		{name: "tiny with odd sizes", n: 35, d: 5, q: 3, targets: kinds(labels, soft)},
		{name: "tiny with two blocks", n: 258, d: 2, q: 2, targets: kinds(labels), counts: []int{1}},
		{name: "tiny with two chunks", n: 3, d: 259, q: 2, targets: kinds(backward), counts: []int{1}},
		{name: "tiny with many classes", n: 5, d: 2, q: 35, targets: kinds(perRow), counts: []int{1}},
		{name: "tiny bytes", n: 19, d: 18, q: 5, narrow: 1, targets: kinds(labels), counts: []int{2}},
		{name: "tiny halves", n: 5, d: 19, q: 2, narrow: 2, targets: kinds(soft), counts: []int{2}},
	}...)
}

// checkEvaluation takes the engine and the naive computation through the targets, at W = 0 and
// others, with all that may be asked in between.
func (p problem) checkEvaluation(e engine.Engine) error {
	x, _, _, rng := p.build()
	v := newNaive(x.Examples, nil, p.q)
	if p.targets == nil {
		p.targets = everyKind
	}
	if p.counts == nil {
		p.counts = []int{1, 3}
	}
	var f fences
	r, err := e.LoadEvaluator(f.examples(p.form(x)), p.q, numerics.FixedPoint{})
	if err != nil {
		return err
	}
	if got, want := r.FixedPoint(), (numerics.FixedPoint{S: v.s, N: p.n}); got != want {
		return fmt.Errorf("fixed point %+v, want %+v", got, want)
	}
	if n, d, q := r.Shape(); n != p.n || d != p.d || q != p.q {
		return fmt.Errorf("shape %d, %d, %d, want %d, %d, %d", n, d, q, p.n, p.d, p.q)
	}
	w := engine.NewWeights(p.q, p.d)
	for round, draw := range p.targets {
		name := fmt.Sprintf("%v, round %d", p.dense(), round)
		err := p.evaluateTwice(r, v, w, draw(rng, p.n, p.q), rng, name)
		if err == nil && round < len(p.counts) {
			err = p.weightedSums(r, v, p.counts[round], rng, name)
		}
		if err == nil {
			err = p.rescoreAfterwards(r, v, w, round, rng, name)
		}
		if err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
	}
	return errors.Join(r.Close(), f.intact())
}

// evaluateTwice evaluates w, then other weights, which stay in w.
func (p problem) evaluateTwice(r engine.Evaluator, v *naive, w engine.Weights, t engine.Targets,
	rng *rand.Rand, name string) error {
	var f fences
	if err := r.SetTargets(f.targets(t)); err != nil {
		return err
	}
	for step := range 2 {
		if step == 1 {
			draw(rng, w.W, p.weight)
		}
		want := remember(fmt.Sprintf("%s, weights %d", name, step),
			func() evaluated { return v.evaluate(w, t) })
		copy(v.scores, want.scores)
		if err := sameEvaluation(r, w, want); err != nil {
			return fmt.Errorf("weights %d: %w", step, err)
		}
	}
	return f.intact()
}

// sameEvaluation evaluates w and compares all that can be asked for then.
func sameEvaluation(r engine.Evaluator, w engine.Weights, want evaluated) error {
	n, _, _ := r.Shape()
	var f fences
	w.W = fence(&f, "weights", w.W)
	err := into("sum", want.sums, func(sums []int64) error {
		got, err := r.Evaluate(sums, w)
		if err == nil && got != want.Evaluation {
			err = fmt.Errorf("evaluation %+v, want %+v", got, want.Evaluation)
		}
		return err
	})
	if err = errors.Join(err, f.intact()); err != nil {
		return err
	}
	return into("score", want.scores, func(dst []float32) error { return r.Scores(dst, 0, n) })
}

// weightedSums asks for sums of some hard coefficients of each example.
func (p problem) weightedSums(r engine.Evaluator, v *naive, count int, rng *rand.Rand,
	name string) error {
	a := make([]float32, p.n*count)
	for i := range a {
		a[i] = coefficient(rng)
		if i/count/256 == 1 && i%count == count-1 { // a block of zeros
			a[i] = 0
		}
	}
	want := remember(name+", weighted sums", func() []int64 { return v.weightedSums(a) })
	var f fences
	a = fence(&f, "coefficients", a)
	return errors.Join(into(fmt.Sprintf("weighted sums of %d coefficients", count), want,
		func(sums []int64) error { return r.WeightedSums(sums, a) }), f.intact())
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

// rescoreAfterwards asks for what a Scorer is asked for, with the scores of the evaluation, and
// with some of them computed anew from other weights.
func (p problem) rescoreAfterwards(r engine.Evaluator, v *naive, w engine.Weights, round int,
	rng *rand.Rand, name string) error {
	other := w.Clone()
	for step, changed := range [][]int{nil, {p.q - 1}, rng.Perm(p.q)} {
		if step == 2 && round > 0 {
			continue // once is enough
		}
		for _, c := range changed {
			draw(rng, other.Row(c), p.weight)
		}
		if err := r.Rescore(other, changed); err != nil {
			return err
		}
		scores := remember(fmt.Sprintf("%s, rescored %d", name, step), func() []float32 {
			v.rescore(other, changed)
			return slices.Clone(v.scores)
		})
		copy(v.scores, scores)
		if err := v.ask(r, rng); err != nil {
			return fmt.Errorf("after the evaluation: %w", err)
		}
	}
	return nil
}

// evaluationParts have parts of a data set, cut at a multiple of 256 examples, whose sums and
// losses add up to the whole's.
func evaluationParts() []Case {
	var all []Case
	for _, p := range []problem{
		{name: "parts", n: 700, d: 19, q: 4, first: 256},
		{name: "parts, a short one", n: 513, d: 5, q: 3, first: 512},
		{name: "parts, sparse", n: 600, d: 30, q: 3, first: 512, sparse: true},
		{name: "parts of bytes", n: 520, d: 19, q: 4, first: 256, narrow: 1},
		{name: "parts of very different values", n: 512, d: 10, q: 3, first: 256, edit: firstTiny(256)},
		{name: "parts of a larger set, in a coarse format", n: 300, d: 10, q: 3, first: 256, times: 1000,
			coarse: 21},
		{name: "parts of a set as large as can be", n: 280, d: 7, q: 3, first: 256,
			times: numerics.MostExamples / 280},
	} {
		p.name = "evaluate: " + p.name
		all = append(all, Case{p.name, p.checkEvaluationParts})
	}
	return all
}

// checkEvaluationParts compares the whole and the added parts with the naive computation.
func (p problem) checkEvaluationParts(e engine.Engine) (err error) {
	x, _, _, rng := p.build()
	v, f := p.format(x, nil)
	t := perRow(rng, p.n, p.q)
	w, a := engine.NewWeights(p.q, p.d), make([]float32, p.n)
	draw(rng, w.W, normal)
	draw(rng, a, coefficient)
	want := remember(p.name, func() evaluated { return v.evaluate(w, t) })
	var got, sums [3][]int64
	var found [3]engine.Evaluation
	for at, part := range p.parts() {
		from, to := part[0], part[1]
		r, err := e.LoadEvaluator(p.form(x.Rows(from, to)), p.q, f)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.Close()) }()
		if r.FixedPoint() != f {
			return fmt.Errorf("fixed point %+v, want %+v", r.FixedPoint(), f)
		}
		if err := r.SetTargets(engine.Targets{Values: t.Values[from*p.q : to*p.q],
			Weight: t.Weight[from:to]}); err != nil {
			return err
		}
		got[at], sums[at] = make([]int64, p.q*p.d), make([]int64, p.d)
		if found[at], err = r.Evaluate(got[at], w); err != nil {
			return err
		}
		if err := r.WeightedSums(sums[at], a[from:to]); err != nil {
			return err
		}
	}
	added := engine.Evaluation{Loss: found[1].Loss + found[2].Loss,
		Refused: found[1].Refused + found[2].Refused}
	if found[0] != want.Evaluation || added != want.Evaluation {
		return fmt.Errorf("evaluation of the whole %+v, of the parts %+v, want %+v", found[0], added,
			want.Evaluation)
	}
	alone := v.weightedSums(a)
	return errors.Join(same("sums of the whole", got[0], want.sums),
		same("added sums", add(got[1], got[2]), want.sums),
		same("weighted sums of the whole", sums[0], alone),
		same("added weighted sums", add(sums[1], sums[2]), alone))
}
