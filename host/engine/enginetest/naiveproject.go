package enginetest

import (
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
)

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
