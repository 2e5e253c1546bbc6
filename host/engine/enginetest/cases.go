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

// problem is one data set with a sequence of weights to take it through.
type problem struct {
	name    string
	sparse  bool // the engine gets the examples in sparse form
	narrow  int  // bytes of a value of narrow examples; 0 for others
	n, d, q int
	alpha   float32
	value   func(*rand.Rand) float32 // one feature value; nil for normal
	weight  func(*rand.Rand) float32 // one weight; nil for normal
	edit    func(x dataset.Examples, y []int32)
}

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
	return append(all, problem{name: "all sizes odd", n: 301, d: 259, q: 7},
		problem{name: "margin", n: 257, d: 16, q: 6, alpha: 0.75},
		problem{name: "ties", n: 300, d: 4, q: 9, value: digits, weight: digits},
		problem{name: "ties with margin", n: 300, d: 4, q: 9, alpha: 1, value: digits, weight: digits},
		problem{name: "negative zero", n: 64, d: 5, q: 4, value: signedZeros, weight: signedZeros},
		problem{name: "subnormal products", n: 100, d: 300, q: 4, value: tiny, weight: tiny},
		problem{name: "subnormal values", n: 100, d: 20, q: 4, value: subnormal, weight: normal},
		problem{name: "wide exponents", n: 200, d: 270, q: 5, value: wide, weight: wide},
		problem{name: "wide exponents of many", n: 1200, d: 11, q: 3, value: wide, weight: wide},
		problem{name: "largest values", n: 50, d: 20, q: 4, value: largest, weight: normal},
		problem{name: "overflowing scores", n: 50, d: 20, q: 4, value: largest, weight: largest},
		problem{name: "pixels", n: 400, d: 64, q: 10, value: pixels, weight: normal},
		problem{name: "midpoints", n: 400, d: 64, q: 4, value: midpoints, weight: midpoints},
		problem{name: "zero rows", n: 70, d: 18, q: 3, edit: func(x dataset.Examples, y []int32) {
			for i := 0; i < x.N; i += 3 {
				clear(x.Row(i))
			}
		}}, problem{name: "rows of all lengths", n: 200, d: 600, q: 4,
			edit: func(x dataset.Examples, y []int32) {
				for i := range x.N { // row i keeps every (i+1)-th column, three rows none, one all
					for j := range x.Row(i) {
						if i%67 == 13 || j%(i+1) != 0 {
							x.Row(i)[j] = 0
						}
					}
				}
			}}, problem{name: "nearly empty", n: 60, d: 1090, q: 4, edit: thinOut},
		problem{name: "all zero", n: 40, d: 18, q: 3, edit: func(x dataset.Examples, y []int32) {
			clear(x.X)
		}}, problem{name: "bytes", n: 301, d: 259, q: 7, narrow: 1},
		problem{name: "bytes of few columns", n: 50, d: 3, q: 5, narrow: 1},
		problem{name: "bytes with margin", n: 130, d: 144, q: 21, alpha: 0.75, narrow: 1},
		problem{name: "bytes of many examples", n: 1100, d: 150, q: 3, narrow: 1},
		problem{name: "halves", n: 301, d: 259, q: 7, narrow: 2},
		problem{name: "halves of many classes", n: 95, d: 40, q: 40, narrow: 2},
		problem{name: "one class only", n: 100, d: 18, q: 6, edit: func(x dataset.Examples, y []int32) {
			for i := range y {
				y[i] = 4
			}
		}})
}

// thinOut leaves a value in a few columns of each example, always in the last.
func thinOut(x dataset.Examples, y []int32) {
	for i := range x.N {
		for j := range x.Row(i) {
			if j*7919%997 != i && j != x.D-1 {
				x.Row(i)[j] = 0
			}
		}
	}
}

// orNormal returns draw, or normal for nil.
func orNormal(draw func(*rand.Rand) float32) func(*rand.Rand) float32 {
	if draw == nil {
		return normal
	}
	return draw
}

func normal(r *rand.Rand) float32  { return float32(r.NormFloat64()) }
func digits(r *rand.Rand) float32  { return float32(r.IntN(3) - 1) }
func pixels(r *rand.Rand) float32  { return float32(r.IntN(256)) }
func largest(r *rand.Rand) float32 { return float32(r.IntN(3)-1) * math.MaxFloat32 }
func tiny(r *rand.Rand) float32    { return float32(r.NormFloat64() * 0x1p-70) }
func subnormal(r *rand.Rand) float32 {
	return math.Float32frombits(uint32(r.IntN(1<<24)) | uint32(r.IntN(2))<<31)
}
func signedZeros(r *rand.Rand) float32 {
	return []float32{0, float32(math.Copysign(0, -1)), 1, -1, 0x1p-149}[r.IntN(5)]
}
func wide(r *rand.Rand) float32 {
	return float32(math.Ldexp(r.NormFloat64(), r.IntN(120)-60))
}

// midpoints have few or full mantissas, so that fused and twice rounded results differ.
func midpoints(r *rand.Rand) float32 {
	if r.IntN(2) == 0 {
		return float32(r.IntN(7)-3) * 0.5
	}
	return float32(1+r.IntN(1<<24)) * 0x1p-23
}

func (p problem) String() string {
	form := ""
	switch {
	case p.sparse:
		form = ", sparse"
	case p.narrow != 0:
		form = fmt.Sprintf(", %d bytes a value", p.narrow)
	}
	return fmt.Sprintf("%s (n=%d d=%d Q=%d%s)", p.name, p.n, p.d, p.q, form)
}

// build draws the problem: examples, labels, an inverse confusion matrix.
func (p problem) build() (x dataset.Stored, y []int32, inv []float32, rng *rand.Rand) {
	rng = rand.New(rand.NewPCG(uint64(p.n)<<40|uint64(p.d)<<20|uint64(p.q), 7))
	x = dataset.Examples{N: p.n, D: p.d, X: make([]float32, p.n*p.d)}.Stored()
	for i := range x.X {
		x.X[i] = orNormal(p.value)(rng)
	}
	if p.narrow != 0 {
		x = narrowed(x.Examples, p.narrow, rng)
	}
	y = make([]int32, p.n)
	for i := range y {
		y[i] = int32(rng.IntN(p.q))
	}
	if p.edit != nil {
		p.edit(x.Examples, y)
	}
	inv = make([]float32, p.q*p.q)
	for i := range inv {
		inv[i] = float32(rng.NormFloat64() * 0.3)
		if i/p.q == i%p.q {
			inv[i] += 1.5
		}
	}
	return x, y, inv, rng
}

// check takes the engine and the naive computation through three weight
// matrices: W = 0, all classes anew, some classes anew.
func (p problem) check(e engine.Engine) error {
	x, y, inv, rng := p.build()
	form := x
	if p.sparse {
		form = x.Compressed().Stored()
	}
	return guarded(form, y, inv, func(gx dataset.Stored, gy []int32, ginv []float32) error {
		r, err := e.LoadCells(gx, gy, p.q, numerics.FixedPoint{})
		if err != nil {
			return err
		}
		v := newNaive(x.Examples, y, p.q)
		if got := r.FixedPoint().S; got != v.s {
			return fmt.Errorf("fixed point: s = %d, want %d", got, v.s)
		}
		w := engine.NewWeights(p.q, p.d)
		for round := range 3 {
			var changed []int
			for c := range p.q {
				if round == 1 || round == 2 && (c%3 == 0 || c == p.q-1) {
					changed = append(changed, c)
					for j := range w.Row(c) {
						w.Row(c)[j] = orNormal(p.weight)(rng)
					}
				}
			}
			rng.Shuffle(len(changed), func(i, j int) { changed[i], changed[j] = changed[j], changed[i] })
			alpha := p.alpha
			if round == 0 {
				alpha = 0
			}
			if err := p.round(r, v, w, changed, alpha, ginv, rng, fmt.Sprintf("%v, weights %d", p.dense(),
				round)); err != nil {
				return fmt.Errorf("weights %d: %w", round, err)
			}
		}
		return r.Close()
	})
}

// dense is p with dense examples, of which the same is expected.
func (p problem) dense() problem {
	p.sparse = false
	return p
}

// round compares every operation at one weight matrix. name is that of this step of
// the problem.
func (p problem) round(
	r engine.Cells, v *naive, w engine.Weights, changed []int, alpha float32, inv []float32,
	rng *rand.Rand, name string) error {
	before := w.Clone()
	if err := r.Rescore(w, changed); err != nil {
		return err
	}
	if err := sameFloats("weights after rescore", w.W, before.W); err != nil {
		return err
	}
	v.rescore(w, changed)
	from := rng.IntN(p.n)
	to := from + rng.IntN(p.n-from+1)
	for _, rows := range [][2]int{{0, p.n}, {from, to}} {
		want := v.scores[rows[0]*p.q : rows[1]*p.q]
		if err := into(want, "score", sameFloats, func(dst []float32) error {
			return r.Scores(dst, rows[0], rows[1])
		}); err != nil {
			return err
		}
	}
	pred := make([]int32, p.n)
	for i := range pred {
		c, _ := v.predict(i)
		pred[i] = int32(c)
	}
	if err := into(pred, "predict", same[int32],
		func(dst []int32) error { return r.Predict(dst) }); err != nil {
		return err
	}
	want := v.assign(alpha)
	got, err := r.Assign(alpha)
	if err != nil {
		return err
	}
	if err := sameAssignment(got, want); err != nil {
		return err
	}
	var pairs []engine.Pair
	var vectors []float32
	for range min(p.q, 5) {
		c, q := rng.IntN(p.q), rng.IntN(p.q)
		if i := rng.IntN(p.n); v.region[i] >= 0 {
			c = v.region[i] // a region that is not empty
		}
		sums := v.classSums(c)
		if err := into(sums, fmt.Sprintf("class sums of region %d", c), same[int64],
			func(dst []int64) error {
				return r.ClassSums(dst, c)
			}); err != nil {
			return err
		}
		pairs = append(pairs, engine.Pair{P: c, Q: q})
		vectors = append(vectors, v.updateVector(sums, q, inv)...)
	}
	// One alone, and more than an engine is likely to compute at once.
	many := slices.Repeat(pairs, 1+18/len(pairs))
	for _, some := range [][]engine.Pair{pairs[:1], many, nil} {
		want := slices.Repeat(vectors, 1+18/len(pairs))[:len(some)*p.d]
		if err := into(want, fmt.Sprintf("update vectors %v", some), sameFloats,
			func(dst []float32) error {
				return r.UpdateVectors(dst, some, inv)
			}); err != nil {
			return err
		}
	}
	// Another inverse in between: an engine may remember the norms of one.
	other := slices.Clone(inv)
	slices.Reverse(other)
	for k, inv := range [][]float32{inv, other, inv} {
		want := expected.floats(fmt.Sprintf("%s, inverse %d", name, k%2),
			func() []float32 { return v.norms(inv) })
		if err := into(want, "norm", sameFloats, func(dst []float32) error {
			return r.Norms(dst, inv)
		}); err != nil {
			return err
		}
	}
	return nil
}
