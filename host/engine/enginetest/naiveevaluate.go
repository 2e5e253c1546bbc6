package enginetest

import (
	"math"
	"math/bits"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
)

// evaluated is what an evaluation must answer.
type evaluated struct {
	scores []float32
	sums   []int64
	engine.Evaluation
}

// evaluate: clause 16, with the scores by clause 1 and the sums by clause 14.
func (v *naive) evaluate(w engine.Weights, t engine.Targets) evaluated {
	v.rescore(w, v.classes())
	e := evaluated{scores: slices.Clone(v.scores)}
	var a []float32
	for i := range v.x.N {
		row, weight := i, float32(1)
		if t.Row != nil {
			row = int(t.Row[i])
		}
		if t.Weight != nil {
			weight = t.Weight[i]
		}
		residuals, loss := naiveResiduals(v.scores[i*v.q:(i+1)*v.q], t.Values[row*v.q:(row+1)*v.q],
			t.Given, weight)
		if loss > -0x1p15 && loss < 0x1p15 && residuals != nil { // false of NaN
			e.Loss += integerOf(loss, v.lossFormat())
		} else {
			e.Refused++
			residuals = make([]float32, v.q)
		}
		a = append(a, residuals...)
	}
	e.sums = v.weightedSums(a)
	return e
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

// naiveProject: clause 13. x and the landmarks are dense.
func naiveProject(x dataset.Examples, p engine.Projection) []float32 {
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
	return all
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
