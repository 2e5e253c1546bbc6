package enginetest

import (
	"errors"
	"fmt"
	"math/rand/v2"

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
	return append(all, newCase("evaluate: limits of losses", checkLimits),
		newCase("evaluate: rounding", checkEvaluateRounding),
		newCase("evaluate: targets that change", checkTargets))
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
	}...)
}

// checkEvaluation takes the engine and the reference through the targets, at W = 0 and
// others, with all that may be asked in between.
func (p problem) checkEvaluation(e, ref *engine.Engine) error {
	x, _, _, rng := p.build()
	if p.targets == nil {
		p.targets = everyKind
	}
	if p.counts == nil {
		p.counts = []int{1, 3}
	}
	var f fences
	got, want, err := evaluators(e, ref, f.examples(p.form(x)), x, p.q, numerics.FixedPoint{})
	if err != nil {
		return err
	}
	if got.FixedPoint() != want.FixedPoint() {
		return fmt.Errorf("fixed point %+v, want %+v", got.FixedPoint(), want.FixedPoint())
	}
	if n, d, q := got.Shape(); n != p.n || d != p.d || q != p.q {
		return fmt.Errorf("shape %d, %d, %d, want %d, %d, %d", n, d, q, p.n, p.d, p.q)
	}
	w := engine.NewWeights(p.q, p.d)
	for round, draw := range p.targets {
		err := p.evaluateTwice(got, want, w, draw(rng, p.n, p.q), rng)
		if err == nil && round < len(p.counts) {
			a := p.coefficients(rng, p.counts[round])
			err = sameWeightedSums(got, want, fence(&f, "coefficients", a))
		}
		if err == nil {
			err = p.rescoreAfterwards(got, want, w, round, rng)
		}
		if err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
	}
	return errors.Join(got.Close(), f.intact())
}

// evaluateTwice evaluates w, then other weights, which stay in w.
func (p problem) evaluateTwice(got, want *engine.Evaluator, w engine.Weights, t engine.Targets,
	rng *rand.Rand) error {
	var f fences
	if err := errors.Join(want.SetTargets(t), got.SetTargets(f.targets(t))); err != nil {
		return err
	}
	for step := range 2 {
		if step == 1 {
			draw(rng, w.W, p.weight)
		}
		if _, err := sameEvaluation(got, want, w); err != nil {
			return fmt.Errorf("weights %d: %w", step, err)
		}
	}
	return f.intact()
}

// sameEvaluation evaluates w, compares all that can be asked for then, and returns the reference's
// evaluation.
func sameEvaluation(got, want *engine.Evaluator, w engine.Weights) (engine.Evaluation, error) {
	n, d, q := want.Shape()
	var f fences
	w.W = fence(&f, "weights", w.W)
	var found []engine.Evaluation // of the reference first
	err := agree("sum", got, want, q*d, func(r *engine.Evaluator, sums []int64) error {
		v, err := r.Evaluate(sums, w)
		found = append(found, v)
		return err
	})
	if err == nil && found[0] != found[1] {
		err = fmt.Errorf("evaluation %+v, want %+v", found[1], found[0])
	}
	if err = errors.Join(err, f.intact()); err != nil {
		return engine.Evaluation{}, err
	}
	return found[0], sameScores(got, want, q, 0, n)
}

// coefficients draws some hard coefficients of each example.
func (p problem) coefficients(rng *rand.Rand, count int) []float32 {
	a := make([]float32, p.n*count)
	for i := range a {
		a[i] = coefficient(rng)
		if i/count/256 == 1 && i%count == count-1 { // a block of zeros
			a[i] = 0
		}
	}
	return a
}

// sameWeightedSums compares sums by the coefficients of each example.
func sameWeightedSums(got, want *engine.Evaluator, a []float32) error {
	n, d, _ := want.Shape()
	count := len(a) / n
	return agree(fmt.Sprintf("weighted sums of %d coefficients", count), got, want, count*d,
		func(r *engine.Evaluator, sums []int64) error { return r.WeightedSums(sums, a) })
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
// with some of them recomputed from other weights.
func (p problem) rescoreAfterwards(got, want *engine.Evaluator, w engine.Weights, round int,
	rng *rand.Rand) error {
	other := w.Clone()
	for step, changed := range [][]int{nil, {p.q - 1}, rng.Perm(p.q)} {
		if step == 2 && round > 0 {
			continue // once is enough
		}
		for _, c := range changed {
			draw(rng, other.Row(c), p.weight)
		}
		err := errors.Join(got.Rescore(other, changed), want.Rescore(other, changed))
		if err == nil {
			err = p.ask(got, want, rng)
		}
		if err != nil {
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
		{name: "parts of very different values", n: 512, d: 10, q: 3, first: 256, edit: firstTiny(256)},
		{name: "parts of a larger set, in a coarse format", n: 300, d: 10, q: 3, first: 256, times: 1000,
			coarse: 21},
		{name: "parts of a set as large as can be", n: 280, d: 7, q: 3, first: 256,
			times: numerics.MostExamples / 280},
	} {
		p.name = "evaluate: " + p.name
		all = append(all, newCase(p.name, p.checkEvaluationParts))
	}
	return all
}

// checkEvaluationParts compares the whole, and the added parts, with the reference.
func (p problem) checkEvaluationParts(e, ref *engine.Engine) (err error) {
	x, _, _, rng := p.build()
	f, err := p.format(x)
	if err != nil {
		return err
	}
	t := perRow(rng, p.n, p.q)
	w, a := engine.NewWeights(p.q, p.d), make([]float32, p.n)
	draw(rng, w.W, normal)
	draw(rng, a, coefficient)
	var sums, weighted [4][]int64 // of the reference, the whole and the parts
	var found [4]engine.Evaluation
	for at, part := range append(p.parts()[:1:1], p.parts()...) {
		from, to, form := part[0], part[1], p.form(x.Part(part[0], part[1]))
		on := e
		if at == 0 {
			on, form = ref, x
		}
		r, err := on.LoadEvaluator(form, p.q, f)
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
		sums[at], weighted[at] = make([]int64, p.q*p.d), make([]int64, p.d)
		if found[at], err = r.Evaluate(sums[at], w); err != nil {
			return err
		}
		if err := r.WeightedSums(weighted[at], a[from:to]); err != nil {
			return err
		}
	}
	added := engine.Evaluation{Loss: found[2].Loss + found[3].Loss,
		Refused: found[2].Refused + found[3].Refused}
	if found[1] != found[0] || added != found[0] {
		return fmt.Errorf("evaluation of the whole %+v, of the parts %+v, want %+v", found[1], added,
			found[0])
	}
	return errors.Join(same("sums of the whole", sums[1], sums[0]),
		same("added sums", add(sums[2], sums[3]), sums[0]),
		same("weighted sums of the whole", weighted[1], weighted[0]),
		same("added weighted sums", add(weighted[2], weighted[3]), weighted[0]))
}
