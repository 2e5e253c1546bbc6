package cpuref_test

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// naiveDriver computes from the text of the contract, everything afresh at every question. It
// shares no code with any driver, and takes dense examples alone.
type naiveDriver struct{ engine.Driver }

func (naiveDriver) Serial() bool { return false }

func (naiveDriver) Load(x dataset.Examples, t engine.Task) (engine.Loaded, error) {
	return newNaive(x, t.Labels, t.Classes, t.Format), nil
}

// naive is a data set with cells and targets.
type naive struct {
	x       dataset.Examples
	y       []int32
	q       int
	s       int // clause 3, as is the next
	total   int // examples
	targets engine.Targets

	scores []float32 // n×Q
	region []int     // of the last assignment, -1 for none
}

func newNaive(x dataset.Examples, y []int32, q int, f numerics.FixedPoint) *naive {
	v := &naive{x: x, y: y, q: q, s: f.S, total: f.N, scores: make([]float32, x.N*q),
		region: make([]int, x.N)}
	if f == (numerics.FixedPoint{}) {
		v.total = x.N
		v.s = v.format()
	}
	for i := range v.region {
		v.region[i] = -1
	}
	return v
}

func (v *naive) Close() error { return nil }

func (v *naive) Scores(dst []float32, from, to int) error {
	copy(dst, v.scores[from*v.q:to*v.q])
	return nil
}

func (v *naive) Predict(dst []int32) error {
	for i := range dst {
		c, _ := v.predict(i)
		dst[i] = int32(c)
	}
	return nil
}

func (v *naive) ClassSums(dst []int64, p int) error {
	copy(dst, v.classSums(p))
	return nil
}

func (v *naive) Norms(dst, inv []float32) error {
	copy(dst, v.norms(inv))
	return nil
}

func (v *naive) UpdateVectors(dst []float32, pairs []engine.Pair, inv []float32) error {
	for i, pair := range pairs {
		copy(dst[i*v.x.D:], v.updateVector(v.classSums(pair.P), pair.Q, inv))
	}
	return nil
}

func (v *naive) SetTargets(t engine.Targets) error {
	v.targets = t
	return nil
}

func (v *naive) WeightedSums(sums []int64, a []float32) error {
	copy(sums, v.weightedSums(a))
	return nil
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

func (v *naive) Rescore(w engine.Weights, classes []int) error {
	for i := range v.x.N {
		for _, r := range classes {
			v.scores[i*v.q+r] = dot(v.x.Row(i), w.Row(r))
		}
	}
	return nil
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

// Assign: clause 5's counts.
func (v *naive) Assign(alpha float32) (engine.Assignment, error) {
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
	return a, nil
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

// Evaluate: clause 16, with the scores by clause 1 and the sums by clause 14.
func (v *naive) Evaluate(sums []int64, w engine.Weights) (e engine.Evaluation, err error) {
	t := v.targets
	var a []float32
	for i := range v.x.N {
		scores := v.scores[i*v.q : (i+1)*v.q]
		for c := range scores {
			scores[c] = dot(v.x.Row(i), w.Row(c))
		}
		row, weight := i, float32(1)
		if t.Row != nil {
			row = int(t.Row[i])
		}
		if t.Weight != nil {
			weight = t.Weight[i]
		}
		residuals, loss := naiveResiduals(scores, t.Values[row*v.q:(row+1)*v.q], t.Given, weight)
		if loss > -0x1p15 && loss < 0x1p15 && residuals != nil { // false of NaN
			e.Loss += integerOf(loss, v.lossFormat())
		} else {
			e.Refused++
			residuals = make([]float32, v.q)
		}
		a = append(a, residuals...)
	}
	copy(sums, v.weightedSums(a))
	return e, nil
}

// lossFormat: clause 3 of the largest float32 below 2^15, which is f·2^15.
func (v *naive) lossFormat() int { return 62 - bits.Len(uint(v.total)) - 15 }

// naiveResiduals: clause 16 of one example; nil for one that is refused whatever its loss.
func naiveResiduals(s, t []float32, given bool, weight float32) (a []float32, loss float32) {
	for _, v := range s {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return nil, 0
		}
	}
	p, m, d, l := softSoftmax(s)
	if given {
		loss = l
		for k := range t {
			loss = softFMA(-t[k], d[k], loss)
			a = append(a, float32(float32(p[k]-t[k])*weight))
		}
		return a, float32(loss * weight)
	}
	v := make([]float32, len(s))
	for k := range v {
		v[k] = s[k] + t[k]
	}
	p2, m2, _, l2 := softSoftmax(v)
	if math.IsInf(float64(m2), 0) {
		return nil, 0
	}
	for k := range s {
		a = append(a, float32(float32(p[k]-p2[k])*weight))
	}
	first, second := float32(m-m2), float32(l-l2)
	return a, float32(float32(first+second) * weight)
}

// softSoftmax: clause 15. Without a finite largest score all it returns is nothing but m.
func softSoftmax(s []float32) (p []float32, m float32, d []float32, l float32) {
	m = s[0]
	for _, v := range s {
		if v > m {
			m = v
		}
	}
	if math.IsInf(float64(m), 0) {
		return nil, m, nil, 0
	}
	total := float32(0)
	for _, v := range s {
		d = append(d, v-m)
		p = append(p, softExp(v-m))
		total += p[len(p)-1]
	}
	for k := range p {
		p[k] = float32(p[k] * softReciprocal(total))
	}
	return p, m, d, softLog(total)
}

// softLog: clause 15, the power of two split off by Frexp instead of in the bits.
func softLog(x float32) float32 {
	part, k := math.Frexp(float64(x)) // in [0.5, 1)
	if math.Float32bits(float32(part)) < 0x3f3504f3 {
		part, k = 2*part, k-1
	}
	f := float32(part - 1)
	p := float32(-0x1.38c08ep-4)
	for _, c := range []float32{0x1.055ba6p-3, -0x1.0d8304p-3, 0x1.22d9e4p-3, -0x1.547282p-3,
		0x1.99a00ep-3, -0x1.000226p-2, 0x1.555554p-2, -0.5} {
		p = softFMA(p, f, c)
	}
	square, low := softFMA(f, f, 0), softFMA(float32(k), 0x1.7f7d1cp-20, 0)
	return softFMA(float32(k), 0x1.62e4p-1, f+softFMA(square, p, low))
}

// softReciprocal: clause 15.
func softReciprocal(x float32) float32 {
	y := math.Float32frombits(0x7ef311c7 - math.Float32bits(x))
	for range 4 {
		y = softFMA(y, softFMA(-x, y, 1), y)
	}
	return y
}

// weightedSums: clause 14, one number after the other.
func (v *naive) weightedSums(a []float32) []int64 {
	count := len(a) / v.x.N
	sums := make([]int64, count*v.x.D)
	for r := range count {
		for j := range v.x.D {
			acc, total := float32(0), int64(0)
			for i := range v.x.N {
				if i%256 == 0 {
					total, acc = total+integerOf(acc, v.s), 0
				}
				acc = softFMA(a[i*count+r], v.x.X[i*v.x.D+j], acc)
			}
			sums[r*v.x.D+j] = total + integerOf(acc, v.s)
		}
	}
	return sums
}

// Project: clause 13. The landmarks are dense too.
func (naiveDriver) Project(dst []float32, x dataset.Examples, p engine.Projection) error {
	var all, yy []float32
	for l := range p.Landmarks.N {
		yy = append(yy, dot(p.Landmarks.Row(l), p.Landmarks.Row(l)))
	}
	for i := range x.N {
		var k []float32
		xx := dot(x.Row(i), x.Row(i))
		for l := range p.Landmarks.N {
			k = append(k, naiveKernel(p.Function, dot(x.Row(i), p.Landmarks.Row(l)), xx, yy[l]))
		}
		if p.Axes.Q == 0 {
			all = append(all, k...)
			continue
		}
		for t := range p.Axes.Q {
			z := dot(k, p.Axes.Row(t))
			if p.Offset != nil {
				z += p.Offset[t]
			}
			all = append(all, z)
		}
	}
	copy(dst, all)
	return nil
}

func naiveKernel(f kernel.Function, dot, xx, yy float32) float32 {
	switch f.Kind {
	case "poly":
		v := softFMA(f.Gamma, dot, f.Coef0)
		b := v
		for k := 1; k < f.Degree; k++ {
			v = v * b
		}
		return v
	case "rbf":
		t := softFMA(-2, dot, xx+yy)
		if t < 0 {
			t = 0
		}
		g := f.Gamma * t
		return softExp(-g)
	}
	return dot
}

// softExp: clause 11, the power of two multiplied instead of added to the bits.
func softExp(x float32) float32 {
	switch {
	case x != x:
		return x
	case x < -0x1.5d589ep6:
		return 0
	case x > 0x1.62e42ep6:
		return float32(math.Inf(1))
	}
	t := softFMA(x, 0x1.715476p0, 0x1.8p23)
	k := t - 0x1.8p23
	r := softFMA(-k, 0x1.7f7d1cp-20, softFMA(-k, 0x1.62e4p-1, x))
	p := float32(0x1.6a23dp-10)
	for _, c := range []float32{0x1.123a2p-7, 0x1.5558f2p-5, 0x1.555492p-3, 0x1.fffffcp-2, 1, 1} {
		p = softFMA(p, r, c)
	}
	return float32(math.Ldexp(float64(p), int(k)))
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
