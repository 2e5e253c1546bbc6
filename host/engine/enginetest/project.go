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
	name                  string
	f                     kernel.Function
	n, d, m, axes         int
	bare                  bool                     // no offset
	value, landmark, axis func(*rand.Rand) float32 // nil for normal; landmarks for value
	keep                  float64                  // of the features, the others being +0; 0 keeps all
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
	add(projection{name: "nearly empty", f: gauss, n: 61, d: 1090, m: 43, axes: 5, keep: 0.01})
	add(projection{name: "all zero", f: gauss, n: 20, d: 9, m: 17, axes: 5, value: zero})
	// Whatever the argument of the exponential is: the whole range, and beyond it.
	for _, gamma := range []float32{0x1p-149, 1e-6, 1, 30, 1e6, math.MaxFloat32} {
		add(projection{name: fmt.Sprintf("gamma %v", gamma), f: kernel.Function{Kind: kernel.RBF,
			Gamma: gamma}, n: 65, d: 2, m: 67, axes: 3, keep: 0.9})
	}
	add(projection{name: "many values", f: kernel.Function{Kind: kernel.RBF, Gamma: 1.3}, n: 131, d: 2,
		m: 257})
	add(projection{name: "distances lost in rounding", f: kernel.Function{Kind: kernel.RBF, Gamma: 10},
		n: 30, d: 5, m: 35, value: alike})
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

func zero(*rand.Rand) float32    { return 0 }
func alike(r *rand.Rand) float32 { return float32(1000 + 0.01*r.NormFloat64()) }

func (p projection) String() string {
	return fmt.Sprintf("project %s (%v n=%d d=%d m=%d axes=%d)", p.name, p.f, p.n, p.d, p.m, p.axes)
}

// draw returns n rows of d values.
func (p projection) draw(rng *rand.Rand, n, d int,
	value func(*rand.Rand) float32) dataset.Examples {
	e := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
	for k := range e.X {
		if v := orNormal(value)(rng); p.keep == 0 || rng.Float64() < p.keep {
			e.X[k] = v
		}
	}
	return e
}

// check compares an engine's numbers with the naive ones, for both forms of the examples and
// of the landmarks.
func (p projection) check(e engine.Engine) error {
	rng := rand.New(rand.NewPCG(uint64(p.n)<<40|uint64(p.d)<<20|uint64(p.m), uint64(p.axes)))
	if p.landmark == nil {
		p.landmark = p.value
	}
	x, m := p.draw(rng, p.n, p.d, p.value), p.draw(rng, p.m, p.d, p.landmark)
	for i := range min(p.n, p.m) / 3 { // some examples are landmarks
		copy(x.Row(3*i), m.Row(3*i))
	}
	axes := engine.Weights{}
	var offset []float32
	if p.axes > 0 {
		axes = engine.NewWeights(p.axes, p.m)
		for k := range axes.W {
			axes.W[k] = orNormal(p.axis)(rng)
		}
		if !p.bare {
			offset = make([]float32, p.axes)
			for k := range offset {
				offset[k] = orNormal(p.axis)(rng)
			}
		}
	}
	want := expected.floats(p.String(), func() []float32 {
		return naiveProject(x, engine.Projection{Function: p.f, Landmarks: m, Axes: axes, Offset: offset})
	})
	for _, form := range []struct {
		name string
		x, m dataset.Examples
	}{{"dense", x, m}, {"sparse examples", x.Compressed(), m}, {"sparse landmarks", x, m.Compressed()},
		{"sparse", x.Compressed(), m.Compressed()}} {
		err := guarded(form.x.Stored(), nil, axes.W, func(gx dataset.Stored, _ []int32,
			w []float32) error {
			return guarded(form.m.Stored(), nil, offset, func(gm dataset.Stored, _ []int32,
				o []float32) error {
				if p.bare || p.axes == 0 {
					o = nil
				}
				q := engine.Projection{Function: p.f, Landmarks: gm.Examples,
					Axes: engine.Weights{Q: axes.Q, D: axes.D, W: w}, Offset: o}
				return into(want, "number", sameFloats, func(dst []float32) error {
					return e.Project(dst, gx, q)
				})
			})
		})
		if err != nil {
			return fmt.Errorf("%s: %w", form.name, err)
		}
	}
	return nil
}

// checkProjectErrors judges what Project says to misuse.
func checkProjectErrors(e engine.Engine) error {
	x, _ := small()
	m := dataset.Examples{N: 2, D: 2, X: []float32{1, 0, 0, 1}}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	sparse := func(v float32) dataset.Examples {
		return dataset.Examples{N: 2, D: 2, Starts: []int64{0, 0, 1}, Columns: []int32{1},
			Values: []float32{v}}
	}
	axes := engine.Weights{Q: 1, D: 2, W: []float32{1, 2}}
	for _, c := range []struct {
		what string
		dst  int
		x    dataset.Examples
		p    engine.Projection
		want error
	}{
		{"a short result", 2, x, engine.Projection{Function: linear, Landmarks: m, Axes: axes},
			engine.ErrShape},
		{"a short result without axes", 3, x, engine.Projection{Function: linear, Landmarks: m},
			engine.ErrShape},
		{"no examples", 0, dataset.Examples{D: 2}, engine.Projection{Function: linear, Landmarks: m},
			engine.ErrShape},
		{"no landmarks", 0, x, engine.Projection{Function: linear, Landmarks: dataset.Examples{D: 2}},
			engine.ErrShape},
		{"no features", 6, dataset.Examples{N: 3}, engine.Projection{Function: linear,
			Landmarks: dataset.Examples{N: 2}}, engine.ErrShape},
		{"landmarks of other features", 6, x, engine.Projection{Function: linear,
			Landmarks: dataset.Examples{N: 2, D: 1, X: []float32{1, 2}}}, engine.ErrShape},
		{"examples cut short", 6, dataset.Examples{N: 3, D: 2, X: x.X[:5]},
			engine.Projection{Function: linear, Landmarks: m}, engine.ErrShape},
		{"landmarks cut short", 6, x, engine.Projection{Function: linear,
			Landmarks: dataset.Examples{N: 2, D: 2, X: x.X[:3]}}, engine.ErrShape},
		{"axes of another width", 3, x, engine.Projection{Function: linear, Landmarks: m,
			Axes: engine.Weights{Q: 1, D: 3, W: []float32{1, 2, 3}}}, engine.ErrShape},
		{"axes cut short", 6, x, engine.Projection{Function: linear, Landmarks: m,
			Axes: engine.Weights{Q: 2, D: 2, W: []float32{1, 2, 3}}}, engine.ErrShape},
		{"axes without number", 6, x, engine.Projection{Function: linear, Landmarks: m,
			Axes: engine.Weights{D: 2, W: []float32{1, 2}}}, engine.ErrShape},
		{"negative axes", 6, x, engine.Projection{Function: linear, Landmarks: m,
			Axes: engine.Weights{Q: -1, D: 2}}, engine.ErrShape},
		{"too many offsets", 3, x, engine.Projection{Function: linear, Landmarks: m, Axes: axes,
			Offset: []float32{1, 2}}, engine.ErrShape},
		{"offset without axes", 6, x, engine.Projection{Function: linear, Landmarks: m,
			Offset: []float32{1, 2}}, engine.ErrShape},
		{"columns out of order", 6, x, engine.Projection{Function: linear,
			Landmarks: dataset.Examples{N: 2, D: 2, Starts: []int64{0, 2, 2}, Columns: []int32{1, 0},
				Values: []float32{1, 1}}}, engine.ErrShape},
		{"NaN in an example", 4, sparse(nan), engine.Projection{Function: linear, Landmarks: m},
			engine.ErrValue},
		{"an infinite landmark", 6, x, engine.Projection{Function: linear, Landmarks: sparse(inf)},
			engine.ErrValue},
		{"NaN in a landmark", 6, x, engine.Projection{Function: linear, Landmarks: dataset.Examples{N: 2,
			D: 2, X: []float32{1, 2, nan, 1}}}, engine.ErrValue},
		{"NaN in an axis", 3, x, engine.Projection{Function: linear, Landmarks: m,
			Axes: engine.Weights{Q: 1, D: 2, W: []float32{1, nan}}}, engine.ErrValue},
		{"an infinite offset", 3, x, engine.Projection{Function: linear, Landmarks: m, Axes: axes,
			Offset: []float32{-inf}}, engine.ErrValue},
		{"no function", 6, x, engine.Projection{Landmarks: m}, engine.ErrValue},
		{"gamma 0", 6, x, engine.Projection{Function: kernel.Function{Kind: kernel.RBF}, Landmarks: m},
			engine.ErrValue},
		{"degree 0", 6, x, engine.Projection{Function: kernel.Function{Kind: kernel.Poly, Gamma: 1},
			Landmarks: m}, engine.ErrValue},
	} {
		dst := make([]float32, c.dst)
		if err := e.Project(dst, c.x, c.p); !errors.Is(err, c.want) {
			return fmt.Errorf("project with %s: %v, want %v", c.what, err, c.want)
		}
		for _, v := range dst {
			if v != 0 {
				return fmt.Errorf("project with %s: wrote to dst", c.what)
			}
		}
	}
	return nil
}
