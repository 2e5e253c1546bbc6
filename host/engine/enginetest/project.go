package enginetest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
)

// projection is one problem of clause 13: n examples of d features, m landmarks, axes.
type projection struct {
	name          string
	f             kernel.Function
	n, d, m, axes int
	bare          bool                     // no offset
	value, axis   func(*rand.Rand) float32 // nil for normal
	keep          float64                  // of the features, the others being +0; 0 keeps all
}

var (
	linear  = kernel.Function{Kind: kernel.Linear}
	cubic   = kernel.Function{Kind: kernel.Poly, Gamma: 0.3, Coef0: -0.7, Degree: 3}
	gauss   = kernel.Function{Kind: kernel.RBF, Gamma: 0.1}
	line    = kernel.Function{Kind: kernel.Poly, Gamma: 1.7, Coef0: 0.2, Degree: 1}
	seventh = kernel.Function{Kind: kernel.Poly, Gamma: 1.1, Coef0: 0.3, Degree: 7}
)

// projections lists problems around the widths that kernels like: blocks of rows, groups of
// columns, chunks of features and of landmarks.
func projections() []projection {
	var all []projection
	add := func(p projection) { all = append(all, p) }
	rbf := func(gamma float32) kernel.Function {
		return kernel.Function{Kind: kernel.RBF, Gamma: gamma}
	}
	for _, n := range []int{1, 7, 8, 9, 31, 65, 131, 257} {
		add(projection{name: "n", f: gauss, n: n, d: 3, m: 5, axes: 2})
	}
	for _, d := range []int{1, 4, 16, 17, 255, 256, 257, 513, 600} {
		add(projection{name: "d", f: gauss, n: 13, d: d, m: 19, axes: 3, keep: 0.5})
	}
	for _, m := range []int{1, 2, 15, 16, 17, 31, 33, 64, 255, 256, 257, 511, 513} {
		add(projection{name: "m", f: gauss, n: 11, d: 3, m: m, axes: 3})
		add(projection{name: "m without axes", f: cubic, n: 11, d: 3, m: m})
	}
	for _, axes := range []int{1, 15, 16, 17, 31, 32, 33, 65, 257} {
		add(projection{name: "axes", f: gauss, n: 11, d: 3, m: 35, axes: axes})
		add(projection{name: "axes without offset", f: linear, n: 11, d: 3, m: 35, axes: axes,
			bare: true})
	}
	for _, f := range []kernel.Function{linear, line, cubic, seventh, gauss} {
		add(projection{name: f.Kind, f: f, n: 39, d: 21, m: 45, axes: 13})
		add(projection{name: f.Kind + " without axes", f: f, n: 39, d: 21, m: 45})
	}
	add(projection{name: "some kernel values infinite", f: seventh, n: 21, d: 1, m: 35, axes: 17,
		value: sometimesLarge, axis: fromOne})
	add(projection{name: "nearly empty", f: gauss, n: 61, d: 1090, m: 43, axes: 5, keep: 0.01})
	add(projection{name: "all zero", f: gauss, n: 20, d: 9, m: 17, axes: 5, value: zero})
	// Whatever the argument of the exponential is: the whole range, and beyond it.
	for _, gamma := range []float32{0x1p-149, 1e-6, 1, 30, 1e6, math.MaxFloat32} {
		add(projection{name: fmt.Sprintf("gamma %v", gamma), f: rbf(gamma), n: 65, d: 2, m: 67, axes: 3,
			keep: 0.9})
	}
	add(projection{name: "many values", f: rbf(1.3), n: 131, d: 2, m: 257})
	add(projection{name: "distances lost in rounding", f: rbf(10), n: 30, d: 5, m: 35, value: alike})
	add(projection{name: "equal examples and landmarks", f: gauss, n: 70, d: 4, m: 70, value: digits})
	for _, f := range []kernel.Function{linear, seventh, gauss} {
		add(projection{name: f.Kind + ", wide exponents", f: f, n: 15, d: 270, m: 290, axes: 20,
			value: wide, axis: wide})
		add(projection{name: f.Kind + ", overflow", f: f, n: 21, d: 5, m: 35, axes: 17, value: largest,
			axis: signedZeros})
		add(projection{name: f.Kind + ", overflow of values", f: f, n: 21, d: 5, m: 35, value: largest})
		add(projection{name: f.Kind + ", subnormal", f: f, n: 21, d: 5, m: 35, axes: 17, value: subnormal,
			axis: tiny})
		add(projection{name: f.Kind + ", midpoints", f: f, n: 40, d: 33, m: 47, axes: 19,
			value: midpoints, axis: midpoints})
		add(projection{name: f.Kind + ", negative zero", f: f, n: 20, d: 5, m: 21, axes: 6,
			value: signedZeros, axis: signedZeros})
	}
	return all
}

// tinyProjections are for an interpreter of kernels.
func tinyProjections() []projection {
	return []projection{
		{name: "tiny", f: gauss, n: 1, d: 1, m: 1, axes: 1},
		{name: "tiny with odd sizes", f: gauss, n: 9, d: 5, m: 18, axes: 3, keep: 0.7},
		{name: "tiny with two chunks", f: cubic, n: 3, d: 259, m: 5},
		{name: "tiny with two chunks of landmarks", f: linear, n: 3, d: 2, m: 259, axes: 2, bare: true},
	}
}

func (p projection) String() string {
	return fmt.Sprintf("project %s (%v n=%d d=%d m=%d axes=%d)", p.name, p.f, p.n, p.d, p.m, p.axes)
}

func projectCases(all []projection) []Case {
	cases := []Case{}
	for _, p := range all {
		cases = append(cases, newCase(p.String(), p.check))
	}
	return cases
}

// check compares numbers, for both forms of the examples and
// of the landmarks.
func (p projection) check(e, ref *engine.Engine) error {
	rng := rand.New(rand.NewPCG(uint64(p.n)<<40|uint64(p.d)<<20|uint64(p.m), uint64(p.axes)))
	x, m := p.draw(rng, p.n), p.draw(rng, p.m)
	for i := range min(p.n, p.m) / 3 { // some examples are landmarks
		copy(x.Row(3*i), m.Row(3*i))
	}
	q := engine.Projection{Function: p.f, Landmarks: m}
	if p.axes > 0 {
		q.Axes = engine.NewWeights(p.axes, p.m)
		draw(rng, q.Axes.W, p.axis)
		if !p.bare {
			q.Offset = make([]float32, p.axes)
			draw(rng, q.Offset, p.axis)
		}
	}
	want := make([]float32, p.n*q.Width())
	if err := ref.Project(want, x, q); err != nil {
		return err
	}
	for _, form := range []struct {
		name string
		x, m dataset.Examples
	}{{"dense", x, m}, {"sparse examples", x.Compressed(), m}, {"sparse landmarks", x, m.Compressed()},
		{"sparse", x.Compressed(), m.Compressed()}} {
		var f fences
		g, gx := q, f.examples(form.x)
		g.Landmarks = f.examples(form.m)
		g.Axes.W, g.Offset = fence(&f, "axes", q.Axes.W), fence(&f, "offset", q.Offset)
		err := into("number", want, func(dst []float32) error { return e.Project(dst, gx, g) })
		if err = errors.Join(err, f.intact()); err != nil {
			return fmt.Errorf("%s: %w", form.name, err)
		}
	}
	return nil
}

// draw returns n rows.
func (p projection) draw(rng *rand.Rand, n int) dataset.Examples {
	value := p.value
	if value == nil {
		value = normal
	}
	return drawExamples(rng, n, p.d, func(rng *rand.Rand) float32 {
		v := value(rng)
		if p.keep == 0 || rng.Float64() < p.keep {
			return v
		}
		return 0
	})
}
