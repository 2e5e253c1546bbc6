package enginetest

import (
	"math"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

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
		Case{"evaluate: targets that change", checkTargets}, Case{"evaluate: errors",
			checkEvaluateErrors},
		Case{"evaluate: formats", checkEvaluateFormats}, Case{"evaluate: plan", checkEvaluatePlan})
}

// tinyEvaluations are for an interpreter of kernels.
func tinyEvaluations() []Case {
	var all []Case
	for _, k := range []evaluation{
		{problem: problem{name: "tiny", n: 1, d: 1, q: 2}},
		{problem: problem{name: "tiny with odd sizes", n: 35, d: 5, q: 3}, aims: []aim{labels, soft}},
		{problem: problem{name: "tiny with two blocks", n: 258, d: 2, q: 2}, aims: []aim{labels},
			counts: []int{1}},
		{problem: problem{name: "tiny with two chunks", n: 3, d: 259, q: 2}, aims: []aim{backward},
			counts: []int{1}},
		{problem: problem{name: "tiny with many classes", n: 5, d: 2, q: 35}, aims: []aim{perRow},
			counts: []int{1}},
		{problem: problem{name: "tiny bytes", n: 19, d: 18, q: 5, narrow: 1}, aims: []aim{labels},
			counts: []int{2}},
		{problem: problem{name: "tiny halves", n: 5, d: 19, q: 2, narrow: 2}, aims: []aim{soft},
			counts: []int{2}},
	} {
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
