package enginetest

import (
	"math"
	"math/big"
	"math/bits"
	"sync"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// naive computes what an engine must answer, from the text of the contract,
// everything afresh at every question. It shares no code with any engine.
type naive struct {
	x     dataset.Examples
	y     []int32
	q     int
	s     int // clause 3, as is the next
	total int // examples

	scores []float32 // n×Q
	region []int     // of the last assignment, -1 for none
}

func newNaive(x dataset.Examples, y []int32, q int) *naive {
	v := &naive{x: x, y: y, q: q, scores: make([]float32, x.N*q), region: make([]int, x.N), total: x.N}
	v.s = v.format()
	for i := range v.region {
		v.region[i] = -1
	}
	return v
}

// format: clause 3, for the largest value here and the total.
func (v *naive) format() int {
	m := 0.0
	for _, a := range v.x.X {
		m = math.Max(m, math.Abs(float64(a)))
	}
	e := 0
	if m > 0 {
		for e = -200; !(m < math.Ldexp(1, e)); {
			e++ // m in [2^(e-1), 2^e)
		}
	}
	return max(-126, min(126, 62-bits.Len(uint(v.total))-e))
}

// dot: clause 1.
func dot(x, w []float32) float32 {
	var total, acc float32
	for j := range x {
		acc = softFMA(x[j], w[j], acc)
		if j%256 == 255 || j == len(x)-1 {
			total += acc
			acc = 0
		}
	}
	return total
}

// classes returns all of them.
func (v *naive) classes() []int {
	all := make([]int, v.q)
	for c := range all {
		all[c] = c
	}
	return all
}

func (v *naive) rescore(w engine.Weights, classes []int) {
	for i := range v.x.N {
		for _, r := range classes {
			v.scores[i*v.q+r] = dot(v.x.Row(i), w.Row(r))
		}
	}
}

// predict: clause 4, by sorting out maximum and runner-up separately.
func (v *naive) predict(i int) (class int, margin float32) {
	row := v.scores[i*v.q : (i+1)*v.q]
	ninf := float32(math.Inf(-1))
	best, other := ninf, ninf
	for r, s := range row {
		if s > best {
			best, class = s, r
		}
	}
	for r, s := range row {
		if r != class && s > other {
			other = s
		}
	}
	return class, best - other
}

// assign: clause 5's counts.
func (v *naive) assign(alpha float32) engine.Assignment {
	a := engine.Assignment{Regions: make([]int64, v.q*v.q), Predicted: make([]int64, v.q*v.q)}
	for i := range v.x.N {
		p, margin := v.predict(i)
		a.Predicted[p*v.q+int(v.y[i])]++
		region := -1
		if margin >= alpha {
			region = p
			a.Regions[p*v.q+int(v.y[i])]++
		}
		if region != v.region[i] {
			a.Moved++
		}
		v.region[i] = region
	}
	return a
}

// classSums: clause 5, exact integers.
func (v *naive) classSums(p int) []int64 {
	sums := make([]int64, v.q*v.x.D)
	for i := range v.x.N {
		if v.region[i] != p {
			continue
		}
		for j, a := range v.x.Row(i) {
			sums[int(v.y[i])*v.x.D+j] += integerOf(a, v.s)
		}
	}
	return sums
}

// integerOf: clause 3, a float32 times 2^s rounded to the nearest integer, ties to even.
func integerOf(a float32, s int) int64 {
	v := math.Ldexp(float64(a), s)
	whole := math.Floor(v)
	if rest := v - whole; rest > 0.5 || rest == 0.5 && math.Mod(whole, 2) != 0 {
		whole++
	}
	return int64(whole)
}

// updateVector: clause 6, from the class sums of region p.
func (v *naive) updateVector(sums []int64, q int, inv []float32) []float32 {
	u := float32(math.Ldexp(1, -v.s) / float64(v.total))
	z := make([]float32, v.x.D)
	for j := range z {
		var acc float32
		for k := range v.q {
			acc = softFMA(inv[q*v.q+k], float32(sums[k*v.x.D+j]), acc)
		}
		z[j] = acc * u
	}
	return z
}

func (v *naive) norms(inv []float32) []float32 {
	dst := make([]float32, v.q*v.q)
	occupied := make([]bool, v.q)
	for _, p := range v.region {
		if p >= 0 {
			occupied[p] = true
		}
	}
	for p, some := range occupied {
		if !some {
			continue // every sum is 0, and so is every update vector
		}
		sums := v.classSums(p)
		for q := range v.q {
			z := v.updateVector(sums, q, inv)
			dst[p*v.q+q] = dot(z, z)
		}
	}
	return dst
}

// expected remembers what the naive computation takes longest for, norms, projections and
// evaluations, since a process puts the same problems to many engines.
var expected sync.Map

// remember returns what compute returned when the name was first asked for, for reading.
func remember[T any](name string, compute func() T) T {
	known, ok := expected.Load(name)
	if !ok {
		known, _ = expected.LoadOrStore(name, compute())
	}
	return known.(T)
}

// softFMA is a·b + c rounded once to float32. The product is exact in float64, and the sum
// rounded twice is wrong only where its first rounding is half way between two float32: that
// sum is computed exactly.
func softFMA(a, b, c float32) float32 {
	s := float64(a)*float64(b) + float64(c)
	f := float32(s)
	next := math.Nextafter32(f, float32(math.Inf(1)))
	if s < float64(f) {
		next = math.Nextafter32(f, float32(math.Inf(-1)))
	}
	if float64(next)-s != s-float64(f) && (s-s != 0 || f-f == 0) { // or overflows
		return f
	}
	exact := new(big.Float).SetPrec(1000).SetFloat64(float64(a) * float64(b))
	f, _ = exact.Add(exact, new(big.Float).SetFloat64(float64(c))).Float32()
	return f
}
