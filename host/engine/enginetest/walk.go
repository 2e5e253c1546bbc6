package enginetest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// walk takes an engine through many weight matrices, each near the one before, and
// compares assignments and class sums alone: an engine that scores only examples whose
// region is in doubt must not be helped by being asked for scores.
type walk struct {
	name          string
	n, d, q       int
	alpha         float32
	noise, stride float64 // of the examples around a few axes; of the weights, at first
	sparse        bool
	narrow        int
	drift         bool    // after a leap always on in one direction, so that errors add up
	value, weight float64 // what examples and weights are multiplied by; 0 for 1
}

func walks() []walk {
	return []walk{
		{name: "walk", n: 400, d: 40, q: 4, noise: 0.05, stride: 0.3},
		{name: "walk with margin", n: 400, d: 40, q: 4, alpha: 0.5, noise: 0.05, stride: 0.3},
		{name: "walk among noise", n: 300, d: 24, q: 3, noise: 1, stride: 0.1},
		{name: "walk of two classes", n: 150, d: 270, q: 2, noise: 0.1, stride: 0.2},
		{name: "walk of many examples", n: 2100, d: 9, q: 3, noise: 0.2, stride: 0.3},
		{name: "walk of many classes", n: 150, d: 30, q: 21, noise: 0.1, stride: 0.3},
		{name: "drift", n: 600, d: 40, q: 3, noise: 0.5, stride: 0.02, drift: true},
		{name: "drift in few dimensions", n: 600, d: 12, q: 3, noise: 0.5, stride: 0.02, drift: true},
		{name: "walk of bytes", n: 400, d: 40, q: 4, noise: 0.05, stride: 0.3, narrow: 1},
		{name: "walk of halves", n: 300, d: 270, q: 3, noise: 0.05, stride: 0.3, narrow: 2},
		{name: "walk of scores that overflow", n: 200, d: 40, q: 4, stride: 0.3, value: 0x1p100,
			weight: 0x1p27},
		{name: "walk of scores that underflow", n: 200, d: 40, q: 4, stride: 0.3, value: 0x1p-74,
			weight: 0x1p-76},
		{name: "walk, sparse", n: 200, d: 40, q: 4, noise: 0.05, stride: 0.3, sparse: true},
	}
}

// steps of a walk: enough for bounds to become loose and to be tight again.
const walkSteps = 40

func (k walk) check(e engine.Engine) error {
	rng := rand.New(rand.NewPCG(uint64(k.n), uint64(k.d)))
	drawn, y := k.draw(rng)
	x := drawn.Stored()
	if k.narrow != 0 {
		x = narrowed(drawn, k.narrow, rng)
	}
	form := x
	if k.sparse {
		form = x.Compressed().Stored()
	}
	return guarded(form, y, nil, func(gx dataset.Stored, gy []int32, _ []float32) error {
		r, err := e.LoadCells(gx, gy, k.q, numerics.FixedPoint{})
		if err != nil {
			return err
		}
		v, w := newNaive(x.Examples, y, k.q), engine.NewWeights(k.q, k.d)
		for step := range walkSteps {
			changed := k.move(rng, w, step)
			alpha := k.alpha
			if step == 0 || step%13 == 12 {
				alpha = 0
			}
			v.rescore(w, changed)
			if err := r.Rescore(w, changed); err != nil {
				return err
			}
			want := v.assign(alpha)
			got, err := r.Assign(alpha)
			if err != nil {
				return err
			}
			if err := sameAssignment(got, want); err != nil {
				return fmt.Errorf("step %d: %w", step, err)
			}
			p := rng.IntN(k.q)
			if err := into(v.classSums(p), fmt.Sprintf("step %d: class sums of region %d", step, p),
				same[int64], func(dst []int64) error { return r.ClassSums(dst, p) }); err != nil {
				return err
			}
			if step == walkSteps/2 || step == walkSteps-1 {
				if err := into(v.scores, fmt.Sprintf("step %d: score", step), sameFloats,
					func(dst []float32) error {
						return r.Scores(dst, 0, k.n)
					}); err != nil {
					return err
				}
			}
		}
		return r.Close()
	})
}

func sameAssignment(got, want engine.Assignment) error {
	if err := same("assign: predicted", got.Predicted, want.Predicted); err != nil {
		return err
	}
	if err := same("assign: regions", got.Regions, want.Regions); err != nil {
		return err
	}
	if got.Moved != want.Moved {
		return fmt.Errorf("assign: moved %d examples, want %d", got.Moved, want.Moved)
	}
	return nil
}

// draw makes examples near the space of a few axes, on a coarse grid.
func (k walk) draw(rng *rand.Rand) (x dataset.Examples, y []int32) {
	const axes = 5
	var axis [axes][]float64
	for a := range axis {
		axis[a] = make([]float64, k.d)
		for j := range axis[a] {
			axis[a][j] = rng.NormFloat64()
		}
	}
	x = dataset.Examples{N: k.n, D: k.d, X: make([]float32, k.n*k.d)}
	y = make([]int32, k.n)
	for i := range k.n {
		for _, a := range axis {
			s := rng.NormFloat64()
			for j := range k.d {
				x.Row(i)[j] += float32(s * a[j])
			}
		}
		for j := range k.d {
			v := float64(x.Row(i)[j]) + k.noise*rng.NormFloat64()
			x.Row(i)[j] = float32(math.RoundToEven(v*64) / 64 * times(k.value))
		}
		y[i] = int32(rng.IntN(k.q))
	}
	clear(x.Row(k.n / 2)) // one of length 0
	return x, y
}

// times is a factor of a walk.
func times(factor float64) float64 {
	if factor == 0 {
		return 1
	}
	return factor
}

// move changes the weights of some classes, by less and less, and now and then in a way
// of its own; it returns the classes.
func (k walk) move(rng *rand.Rand, w engine.Weights, step int) (changed []int) {
	if k.drift && step > 1 {
		same := rand.New(rand.NewPCG(11, 12))
		for j := range k.d {
			by := float32(k.stride * same.NormFloat64())
			w.Row(0)[j] += by
			w.Row(1)[j] -= by
		}
		return []int{0, 1}
	}
	stride := k.stride * math.Pow(0.85, float64(step))
	add := func(c int, by float64) {
		changed = append(changed, c)
		for j := range w.Row(c) {
			w.Row(c)[j] += float32(by * times(k.weight) * rng.NormFloat64())
		}
	}
	switch {
	case step == 0: // W = 0
	case step%17 == 16 || k.drift: // leap
		for c := range k.q {
			add(c, 1)
		}
	case step == walkSteps-10: // out of the range of bounds
		add(0, 1)
		w.Row(0)[0] = math.MaxFloat32
	case step == walkSteps-9: // and back
		add(0, 1)
		w.Row(0)[0] = float32(times(k.weight))
	case step%7 == 6: // nothing
	case step%7 == 5: // along an example: what the sketch sees of it, and what not
		c := rng.IntN(k.q)
		add(c, 0)
		w.Row(c)[rng.IntN(k.d)] += float32(stride * 5 * times(k.weight))
	default:
		c := rng.IntN(k.q)
		add(c, stride)
		if other := rng.IntN(k.q); other != c {
			add(other, stride)
		}
	}
	return changed
}
