package enginetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// edges are the sizes around the widths that kernels like: blocks of 16,
// chunks and work groups of 256.
var edges = []int{1, 2, 15, 16, 17, 255, 256, 257, 1023}

func problems() []problem {
	var all []problem
	for _, n := range edges {
		all = append(all, problem{name: "n", n: n, d: 17, q: 5})
	}
	for _, d := range append(edges, 511, 512, 513) {
		all = append(all, problem{name: "d", n: 33, d: d, q: 3})
	}
	for _, q := range edges {
		all = append(all, problem{name: "Q", n: max(3, 40-q), d: 2, q: q})
	}
	return append(all, []problem{
		{name: "all sizes odd", n: 301, d: 259, q: 7},
		{name: "margin", n: 257, d: 16, q: 6, alpha: 0.75},
		{name: "ties", n: 300, d: 4, q: 9, value: digits, weight: digits},
		{name: "ties with margin", n: 300, d: 4, q: 9, alpha: 1, value: digits, weight: digits},
		{name: "negative zero", n: 64, d: 5, q: 4, value: signedZeros, weight: signedZeros},
		{name: "subnormal products", n: 100, d: 300, q: 4, value: tiny, weight: tiny},
		{name: "subnormal values", n: 100, d: 20, q: 4, value: subnormal},
		{name: "wide exponents", n: 200, d: 270, q: 5, value: wide, weight: wide},
		{name: "wide exponents of many", n: 1200, d: 11, q: 3, value: wide, weight: wide},
		{name: "largest values", n: 50, d: 20, q: 4, value: largest},
		{name: "overflowing scores", n: 50, d: 20, q: 4, value: largest, weight: largest},
		{name: "pixels", n: 400, d: 64, q: 10, value: pixels},
		{name: "midpoints", n: 400, d: 64, q: 4, value: midpoints, weight: midpoints},
		{name: "zero rows", n: 70, d: 18, q: 3,
			edit: keepOnly(func(i, _, _ int) bool { return i%3 != 0 })},
		{name: "rows of all lengths", n: 200, d: 600, q: 4, // three of none, one of all
			edit: keepOnly(func(i, j, _ int) bool { return i%67 != 13 && j%(i+1) == 0 })},
		{name: "nearly empty", n: 60, d: 1090, q: 4, edit: thinOut},
		{name: "all zero", n: 40, d: 18, q: 3, value: zero},
		{name: "one class only", n: 100, d: 18, q: 6, edit: func(_ dataset.Examples, y []int32) {
			for i := range y {
				y[i] = 4
			}
		}},
	}...)
}

// checkCells takes the engine and the reference through three weight
// matrices: W = 0, all classes changed, some classes changed.
func (p problem) checkCells(e, ref *engine.Engine) error {
	var f fences
	x, y, inv, rng := p.build()
	got, want, err := loadBoth(e, ref, &f, p.form(x), x, y, p.q)
	if err != nil {
		return err
	}
	w := engine.NewWeights(p.q, p.d)
	inv = fence(&f, "inverse", inv)
	for round := range 3 {
		var changed []int
		for c := range p.q {
			if round == 1 || round == 2 && (c%3 == 0 || c == p.q-1) {
				changed = append(changed, c)
				draw(rng, w.Row(c), p.weight)
			}
		}
		rng.Shuffle(len(changed), func(i, j int) { changed[i], changed[j] = changed[j], changed[i] })
		alpha := p.alpha
		if round == 0 {
			alpha = 0
		}
		if err := p.round(got, want, w, changed, alpha, inv, rng); err != nil {
			return fmt.Errorf("weights %d: %w", round, err)
		}
	}
	return errors.Join(got.Close(), f.intact())
}

// loadBoth loads fenced examples in some form on the engine, and dense ones on the reference.
func loadBoth(e, ref *engine.Engine, f *fences, form dataset.Examples, x dataset.Examples,
	y []int32,
	q int) (got, want *engine.Cells, err error) {
	if want, err = ref.LoadCells(x, y, q, numerics.FixedPoint{}); err != nil {
		return nil, nil, fmt.Errorf("reference: %w", err)
	}
	got, err = e.LoadCells(f.examples(form), fence(f, "labels", y), q, numerics.FixedPoint{})
	if err == nil && got.FixedPoint() != want.FixedPoint() {
		err = fmt.Errorf("fixed point: %+v, want %+v", got.FixedPoint(), want.FixedPoint())
	}
	return got, want, err
}

// round compares every operation at one weight matrix.
func (p problem) round(got, want *engine.Cells, w engine.Weights, changed []int, alpha float32,
	inv []float32, rng *rand.Rand) error {
	before := w.Clone()
	err := errors.Join(got.Rescore(w, changed), want.Rescore(w, changed),
		same("weights after rescore", w.W, before.W))
	if err == nil {
		err = p.ask(got, want, rng)
	}
	if err != nil {
		return err
	}
	assigned, err := sameAssignment(got, want, alpha)
	if err != nil {
		return err
	}
	var occupied []int // regions
	for c := range p.q {
		if slices.Max(assigned.Regions[c*p.q:(c+1)*p.q]) > 0 {
			occupied = append(occupied, c)
		}
	}
	var pairs []engine.Pair
	for range min(p.q, 5) {
		pair := engine.Pair{P: rng.IntN(p.q), Q: rng.IntN(p.q)}
		if len(occupied) > 0 && rng.IntN(4) > 0 {
			pair.P = occupied[rng.IntN(len(occupied))]
		}
		pairs = append(pairs, pair)
		if err := sameSums(got, want, pair.P); err != nil {
			return err
		}
	}
	// One alone, and more than an engine is likely to compute at once.
	for _, some := range [][]engine.Pair{pairs[:1], slices.Repeat(pairs, 1+18/len(pairs)), nil} {
		if err := agree(fmt.Sprintf("update vectors %v", some), got, want, len(some)*p.d,
			func(r *engine.Cells, dst []float32) error {
				return r.UpdateVectors(dst, some, inv)
			}); err != nil {
			return err
		}
	}
	// Another inverse in between: an engine may remember the norms of one.
	other := slices.Clone(inv)
	slices.Reverse(other)
	for _, inv := range [][]float32{inv, other, inv} {
		if err := agree("norm", got, want, p.q*p.q, func(r *engine.Cells, dst []float32) error {
			return r.Norms(dst, inv)
		}); err != nil {
			return err
		}
	}
	return nil
}

// ask compares scores of all examples and of some, and predictions.
func (p problem) ask(got, want scorer, rng *rand.Rand) error {
	from := rng.IntN(p.n)
	to := from + rng.IntN(p.n-from+1)
	return errors.Join(sameScores(got, want, p.q, 0, p.n), sameScores(got, want, p.q, from, to),
		agree("predict", got, want, p.n, scorer.Predict))
}

func sameScores(got, want scorer, q, from, to int) error {
	return agree("score", got, want, (to-from)*q, func(r scorer, dst []float32) error {
		return r.Scores(dst, from, to)
	})
}

// sameSums compares the class sums of region p.
func sameSums(got, want *engine.Cells, p int) error {
	_, d, q := want.Shape()
	return agree(fmt.Sprintf("class sums of region %d", p), got, want, q*d,
		func(r *engine.Cells, dst []int64) error { return r.ClassSums(dst, p) })
}

// sameAssignment assigns, compares, and returns the reference's assignment.
func sameAssignment(got, want *engine.Cells, alpha float32) (engine.Assignment, error) {
	expected, err := want.Assign(alpha)
	if err != nil {
		return expected, fmt.Errorf("assign of the reference: %w", err)
	}
	found, err := got.Assign(alpha)
	return expected, errors.Join(err, equalAssignments(found, expected))
}

func equalAssignments(got, want engine.Assignment) error {
	if got.Moved != want.Moved {
		return fmt.Errorf("assign: moved %d examples, want %d", got.Moved, want.Moved)
	}
	return errors.Join(same("assign: predicted", got.Predicted, want.Predicted),
		same("assign: regions", got.Regions, want.Regions))
}

// walks are problems for checkSteps.
func walks() []problem {
	return []problem{
		{name: "walk", n: 400, d: 40, q: 4},
		{name: "walk with margin", n: 400, d: 40, q: 4, alpha: 0.5},
		{name: "walk of many examples", n: 2100, d: 9, q: 3},
		{name: "walk of many classes", n: 150, d: 30, q: 21},
		{name: "walk of scores that overflow", n: 200, d: 40, q: 4, value: largest, weight: largest},
	}
}

// checkSteps takes the engine and the reference through weights that change little from step to
// step, so that few examples move, and compares assignments and class sums alone.
func (p problem) checkSteps(e, ref *engine.Engine) error {
	var f fences
	x, y, _, rng := p.build()
	got, want, err := loadBoth(e, ref, &f, p.form(x), x, y, p.q)
	if err != nil {
		return err
	}
	w, changed := engine.NewWeights(p.q, p.d), classes(p.q)
	draw(rng, w.W, p.weight)
	for step := range 12 {
		alpha := p.alpha
		if step == 7 {
			alpha = 0
		}
		err := errors.Join(got.Rescore(w, changed), want.Rescore(w, changed))
		if err == nil {
			_, err = sameAssignment(got, want, alpha)
		}
		if err == nil {
			err = sameSums(got, want, rng.IntN(p.q))
		}
		if err != nil {
			return fmt.Errorf("step %d: %w", step, err)
		}
		changed = nil
		if step%5 != 3 { // where nothing changes
			changed = []int{rng.IntN(p.q)}
			w.Row(changed[0])[rng.IntN(p.d)] += 0.3 * normal(rng)
		}
	}
	return errors.Join(got.Close(), f.intact())
}

// partCases load a data set whole on the reference and in two parts, with the fixed-point format
// of the whole: counts, class sums and update vectors of the parts add up.
func partCases() []Case {
	var all []Case
	for _, p := range []problem{
		{name: "parts", n: 130, d: 19, q: 4, first: 70},
		{name: "parts, sparse", n: 130, d: 300, q: 4, first: 33, sparse: true},
		{name: "parts of many examples", n: 1600, d: 9, q: 3, first: 800},
		{name: "parts of very different values", n: 90, d: 40, q: 3, first: 45, edit: firstTiny(45)},
		{name: "parts of a larger set, in a coarse format", n: 90, d: 40, q: 3, first: 16, times: 1000,
			coarse: 21},
		{name: "parts of a set as large as can be", n: 50, d: 7, q: 3, first: 25,
			times: numerics.MostExamples / 50},
	} {
		all = append(all, newCase(p.name, p.checkParts))
	}
	return all
}

// firstTiny returns an edit that makes the values of the first n examples far smaller than others.
func firstTiny(n int) func(dataset.Examples, []int32) {
	return func(x dataset.Examples, _ []int32) {
		for i := range n * x.D {
			x.X[i] *= 0x1p-30
		}
	}
}

func (p problem) checkParts(e, ref *engine.Engine) (err error) {
	x, y, inv, rng := p.build()
	f, err := p.format(x)
	if err != nil {
		return err
	}
	want, err := ref.LoadCells(x, y, p.q, f)
	if err != nil {
		return err
	}
	w, all := engine.NewWeights(p.q, p.d), classes(p.q)
	draw(rng, w.W, p.weight)
	if err := want.Rescore(w, all); err != nil {
		return err
	}
	whole, err := want.Assign(0)
	if err != nil {
		return err
	}
	added := engine.Assignment{Regions: make([]int64, p.q*p.q), Predicted: make([]int64, p.q*p.q)}
	sums := make([][]int64, p.q) // of each region
	for _, part := range p.parts()[1:] {
		r, err := e.LoadCells(p.form(x.Part(part[0], part[1])), y[part[0]:part[1]], p.q, f)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.Close()) }()
		if r.FixedPoint() != f {
			return fmt.Errorf("fixed point %+v, want %+v", r.FixedPoint(), f)
		}
		if err := r.Rescore(w, all); err != nil {
			return err
		}
		a, err := r.Assign(0)
		if err != nil {
			return err
		}
		added = engine.Assignment{Regions: add(added.Regions, a.Regions),
			Predicted: add(added.Predicted, a.Predicted), Moved: added.Moved + a.Moved}
		if err := p.addSums(r, sums, inv, f); err != nil {
			return err
		}
	}
	if err := equalAssignments(added, whole); err != nil {
		return err
	}
	expected := make([]int64, p.q*p.d)
	for region, total := range sums {
		if err := errors.Join(want.ClassSums(expected, region),
			same("added class sums", total, expected)); err != nil {
			return fmt.Errorf("region %d: %w", region, err)
		}
	}
	return nil
}

// addSums adds the class sums of a part to sums, and compares its update vectors with the function
// of class sums.
func (p problem) addSums(r *engine.Cells, sums [][]int64, inv []float32,
	f numerics.FixedPoint) error {
	z, own := make([]float32, p.d), make([]int64, p.q*p.d)
	for region := range sums {
		if err := r.ClassSums(own, region); err != nil {
			return err
		}
		class := region / 2
		engine.UpdateVector(z, own, inv[class*p.q:(class+1)*p.q], f)
		pair := []engine.Pair{{P: region, Q: class}}
		if err := into("update vector of a part", z, func(dst []float32) error {
			return r.UpdateVectors(dst, pair, inv)
		}); err != nil {
			return err
		}
		if sums[region] == nil {
			sums[region] = make([]int64, len(own))
		}
		sums[region] = add(sums[region], own)
	}
	return nil
}

func add(a, b []int64) []int64 {
	sum := slices.Clone(a)
	for i := range sum {
		sum[i] += b[i]
	}
	return sum
}

// classes returns 0 to q-1.
func classes(q int) []int {
	all := make([]int, q)
	for c := range all {
		all[c] = c
	}
	return all
}
