package enginetest

import (
	"fmt"
	"math"
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
	coarse  int   // bits that the format has fewer than it could
}

func evaluations() []evaluation {
	plain := func(name string, n, d, q int) evaluation {
		return evaluation{problem: problem{name: name, n: n, d: d, q: q, value: normal, weight: normal}}
	}
	var all []evaluation
	for _, n := range []int{1, 15, 16, 17, 255, 256, 257, 511, 512, 513, 515, 1027} {
		e := plain("n", n, 7, 3)
		e.aims = []aim{labels, soft}
		all = append(all, e)
	}
	for _, d := range []int{1, 2, 4, 15, 16, 17, 31, 32, 33, 63, 65, 255, 256, 257, 259} {
		e := plain("d", 259, d, 2)
		if e.aims = []aim{labels, backward}; d > 100 {
			e.n, e.aims = 20, e.aims[:1]
		}
		all = append(all, e)
	}
	for _, q := range []int{1, 2, 3, 10, 15, 16, 17, 31, 33, 64, 200} {
		e := plain("Q", 33, 3, q)
		if q == 1 || q == 10 {
			e.n = 260
		}
		all = append(all, e)
	}
	with := func(name string, n, d, q int, edit func(e *evaluation)) {
		e := plain(name, n, d, q)
		edit(&e)
		all = append(all, e)
	}
	values := func(value, weight func(*rand.Rand) float32) func(*evaluation) {
		return func(e *evaluation) { e.value, e.weight = value, weight }
	}
	edit := func(edit func(dataset.Examples, []int32)) func(*evaluation) {
		return func(e *evaluation) { e.edit = edit }
	}
	narrow := func(bytes int) func(*evaluation) { return func(e *evaluation) { e.narrow = bytes } }

	with("all sizes odd", 519, 67, 7, func(e *evaluation) {})
	with("all sizes odd, two chunks", 261, 259, 3, func(e *evaluation) { e.aims = []aim{labels} })
	with("many sums", 300, 5, 3, func(e *evaluation) { e.counts = []int{40, 3, 1} })
	with("equal scores", 300, 4, 5, values(digits, digits))
	with("negative zero", 280, 5, 4, values(signedZeros, signedZeros))
	with("midpoints", 300, 17, 4, values(midpoints, midpoints))
	with("subnormal products", 270, 40, 4, values(tiny, tiny))
	with("subnormal values", 270, 9, 3, values(subnormal, normal))
	with("sums that cancel", 600, 5, 3, values(cancelling, normal))
	with("scores far apart", 300, 12, 5, values(normal, strong))
	with("losses around the largest", 270, 3, 3, values(powers, losing))
	with("scores that overflow", 300, 6, 4, values(bulky, bulky))
	with("some scores that overflow", 300, 6, 4, values(pixels, sometimes))
	with("wide exponents", 400, 20, 4, values(wide, wide))
	with("largest values", 600, 5, 3, values(mostly, faint))
	with("all zero", 260, 18, 3, edit(func(x dataset.Examples, _ []int32) { clear(x.X) }))
	with("rows of all lengths", 300, 70, 3, edit(func(x dataset.Examples, _ []int32) {
		for i := range x.N { // row i keeps every (i+1)-th column, some rows none
			for j := range x.Row(i) {
				if i%67 == 13 || j%(i%40+1) != 0 {
					x.Row(i)[j] = 0
				}
			}
		}
	}))
	with("columns of all lengths", 1100, 13, 3, edit(columnsOfAllLengths))
	with("nearly empty", 300, 1090, 2, func(e *evaluation) { e.edit, e.aims = thinOut, []aim{labels} })
	with("bytes", 301, 37, 7, narrow(1))
	with("bytes of few columns", 520, 3, 5, narrow(1))
	with("bytes of two chunks", 100, 259, 3, narrow(1))
	with("halves", 301, 37, 7, narrow(2))
	with("halves of many classes", 95, 20, 40, narrow(2))
	return all
}

// EvaluationCases are the cases of clauses 14 to 16.
func EvaluationCases() []Case {
	var all []Case
	for _, k := range evaluations() {
		all = append(all, k.cases()...)
	}
	all = append(all, evaluationParts()...)
	return append(all, Case{"evaluate: limits of losses", checkLimits},
		Case{"evaluate: rounding", checkEvaluateRounding},
		Case{"evaluate: targets that change", checkTargets}, Case{"evaluate: errors", checkEvaluateErrors},
		Case{"evaluate: formats", checkEvaluateFormats}, Case{"evaluate: plan", checkEvaluatePlan})
}

// tinyEvaluations are for an interpreter of kernels.
func tinyEvaluations() []Case {
	var all []Case
	for _, k := range []evaluation{
		{problem: problem{name: "tiny", n: 1, d: 1, q: 2}},
		{problem: problem{name: "tiny with odd sizes", n: 35, d: 5, q: 3}, aims: []aim{labels, soft}},
		{problem: problem{name: "tiny with two blocks", n: 258, d: 2, q: 2}, aims: []aim{labels}, counts: []int{1}},
		{problem: problem{name: "tiny with two chunks", n: 3, d: 259, q: 2}, aims: []aim{backward}, counts: []int{1}},
		{problem: problem{name: "tiny with many classes", n: 5, d: 2, q: 35}, aims: []aim{perRow}, counts: []int{1}},
		{problem: problem{name: "tiny bytes", n: 19, d: 18, q: 5, narrow: 1}, aims: []aim{labels}, counts: []int{2}},
		{problem: problem{name: "tiny halves", n: 5, d: 19, q: 2, narrow: 2}, aims: []aim{soft}, counts: []int{2}},
	} {
		k.value, k.weight = normal, normal
		all = append(all, k.cases()...)
	}
	return all
}

// cases are k, and k in sparse form.
func (k evaluation) cases() []Case {
	all := []Case{{k.String(), k.check}}
	if k.narrow == 0 {
		k.sparse = true
		all = append(all, Case{k.String(), k.check})
	}
	return all
}

func (k evaluation) String() string { return "evaluate: " + k.problem.String() }

// columnsOfAllLengths leaves a column full, one empty, one that only the last examples have,
// one that each block has once, and of the others fewer and fewer values.
func columnsOfAllLengths(x dataset.Examples, _ []int32) {
	for i := range x.N {
		row := x.Row(i)
		keep := []bool{true, false, i >= x.N-3, i%256 == 255, i%256 == 0, i < 256, i >= 256 && i < 512}
		for j := range row {
			if j < len(keep) && !keep[j] || j >= len(keep) && i%(1<<(j-len(keep))) != 0 {
				row[j] = 0
			}
		}
		if i%29 == 5 {
			clear(row)
		}
	}
}

func strong(r *rand.Rand) float32    { return float32(40 * r.NormFloat64()) }
func bulky(r *rand.Rand) float32     { return float32(math.Ldexp(r.NormFloat64(), 40+r.IntN(25))) }
func mostly(r *rand.Rand) float32    { return float32(r.IntN(3)-1) * 0x1p118 }
func faint(r *rand.Rand) float32     { return float32(r.NormFloat64() * 0x1p-118) }
func powers(r *rand.Rand) float32    { return float32(math.Ldexp(1, r.IntN(4))) }
func losing(r *rand.Rand) float32    { return float32(r.NormFloat64() * 0x1p12) }
func sometimes(r *rand.Rand) float32 { return float32(math.Ldexp(r.NormFloat64(), r.IntN(8)*16)) }
func cancelling(r *rand.Rand) float32 {
	return float32(r.IntN(3)-1)*0x1p20 + float32(r.NormFloat64()*0x1p-3)
}

// check takes the engine and the naive computation through the targets, at W = 0 and others,
// with all that may be asked in between.
func (k evaluation) check(e engine.Engine) error {
	x, _, _, rng := k.build()
	form := x
	if k.sparse {
		form = x.Compressed()
	}
	v := newNaive(x, nil, k.q)
	if k.aims == nil {
		k.aims = everyAim
	}
	if k.counts == nil {
		k.counts = []int{1, 3}
	}
	return guarded(form, nil, nil, func(gx dataset.Examples, _ []int32, _ []float32) error {
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
		if err := at.r.Aim(t); err != nil {
			return err
		}
		for step := range 2 {
			if step == 1 {
				for j := range w.W {
					w.W[j] = at.k.weight(at.rng)
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
	return into(want.scores, "score", sameFloats, func(dst []float32) error { return r.Scores(dst, 0, n) })
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
	want := remember(&expected, at.name+", weighted sums", func() []int64 { return at.v.weightedSums(a) })
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
				other.Row(c)[j] = at.k.weight(at.rng)
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
