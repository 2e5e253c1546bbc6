package enginetest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// walk takes an engine through many weight matrices, each near the one before, and
// compares assignments and class sums alone.
type walk struct {
	problem
	noise, stride float64    // of the examples around a few axes; of the weights, at first
	drift         bool       // after a leap always on in one direction, so that errors add up
	sizes         [2]float64 // factors of examples and weights; 0 for 1
}

func walks() []walk {
	return []walk{
		{problem: problem{name: "walk", n: 400, d: 40, q: 4}, noise: 0.05, stride: 0.3},
		{problem: problem{name: "walk with margin", n: 400, d: 40, q: 4, alpha: 0.5}, noise: 0.05,
			stride: 0.3},
		{problem: problem{name: "walk among noise", n: 300, d: 24, q: 3}, noise: 1, stride: 0.1},
		{problem: problem{name: "walk of two classes", n: 150, d: 270, q: 2}, noise: 0.1, stride: 0.2},
		{problem: problem{name: "walk of many examples", n: 2100, d: 9, q: 3}, noise: 0.2, stride: 0.3},
		{problem: problem{name: "walk of many classes", n: 150, d: 30, q: 21}, noise: 0.1, stride: 0.3},
		{problem: problem{name: "drift", n: 600, d: 40, q: 3}, noise: 0.5, stride: 0.02, drift: true},
		{problem: problem{name: "drift in few dimensions", n: 600, d: 12, q: 3}, noise: 0.5,
			stride: 0.02, drift: true},
		{problem: problem{name: "walk of scores that overflow", n: 200, d: 40, q: 4}, stride: 0.3,
			sizes: [2]float64{0x1p100, 0x1p27}},
		{problem: problem{name: "walk of scores that underflow", n: 200, d: 40, q: 4}, stride: 0.3,
			sizes: [2]float64{0x1p-74, 0x1p-76}},
		{problem: problem{name: "walk, sparse", n: 200, d: 40, q: 4, sparse: true}, noise: 0.05,
			stride: 0.3},
	}
}

// steps of a walk: enough for bounds to become loose and to be tight again.
const walkSteps = 40

func (k walk) check(e, ref *engine.Engine) error {
	if k.sizes[0] == 0 {
		k.sizes = [2]float64{1, 1}
	}
	rng := rand.New(rand.NewPCG(uint64(k.n), uint64(k.d)))
	x, y := k.draw(rng)
	var f fences
	got, want, err := loadBoth(e, ref, &f, k.form(x), x, y, k.q)
	if err != nil {
		return err
	}
	w := engine.NewWeights(k.q, k.d)
	for at := range walkSteps {
		changed := k.move(rng, w, at)
		alpha := k.alpha
		if at == 0 || at%13 == 12 {
			alpha = 0
		}
		_, err := step(got, want, w, changed, alpha)
		if err == nil {
			err = sameSums(got, want, rng.IntN(k.q))
		}
		if err == nil && (at == walkSteps/2 || at == walkSteps-1) {
			err = sameScores(got, want, k.q, 0, k.n)
		}
		if err != nil {
			return fmt.Errorf("step %d: %w", at, err)
		}
	}
	return errors.Join(got.Close(), f.intact())
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
		row := x.Row(i)
		for _, a := range axis {
			s := rng.NormFloat64()
			for j := range row {
				row[j] += float32(s * a[j])
			}
		}
		for j := range row {
			v := float64(row[j]) + k.noise*rng.NormFloat64()
			row[j] = float32(math.RoundToEven(v*64) / 64 * k.sizes[0])
		}
		y[i] = int32(rng.IntN(k.q))
	}
	clear(x.Row(k.n / 2)) // one of length 0
	return x, y
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
			w.Row(c)[j] += float32(by * k.sizes[1] * rng.NormFloat64())
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
		w.Row(0)[0] = float32(k.sizes[1])
	case step%7 == 6: // nothing
	case step%7 == 5: // along an example: what the sketch sees of it, and what not
		c := rng.IntN(k.q)
		add(c, 0)
		w.Row(c)[rng.IntN(k.d)] += float32(stride * 5 * k.sizes[1])
	default:
		c := rng.IntN(k.q)
		add(c, stride)
		if other := rng.IntN(k.q); other != c {
			add(other, stride)
		}
	}
	return changed
}

// checkRounding has weights that change by next to nothing, and scores that change by
// thirty times the unit of their last place all the same: where the products of an example and
// the weights of class 0 are a little less than half that unit, each is lost when it is added to
// 1, and where they are a little more, each counts for twice what it is. An
// engine that bounds how far scores have moved must reckon with it.
func checkRounding(e, ref *engine.Engine) error {
	const n, d, q, part = 320, 256, 3, 0x1p-12
	rng := rand.New(rand.NewPCG(12, 24))
	x := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
	y := make([]int32, n)
	for i := range n {
		y[i] = int32(rng.IntN(q))
		row := x.Row(i)
		if i%10 != 3 { // such as are in region 2 for good
			row[1] = -float32(1 + rng.IntN(3))
			continue
		}
		size := float32(math.Ldexp(1, rng.IntN(3)))
		row[0] = size
		for j := 1; j < d; j++ {
			row[j] = size * part
		}
	}
	var f fences
	got, reference, err := loadBoth(e, ref, &f, x, x, y, q)
	if err != nil {
		return err
	}
	w := engine.NewWeights(q, d)
	w.Row(0)[0], w.Row(1)[0] = 1, 1+0x1p-16 // class 0 is above after every other step
	w.Row(2)[1] = -1
	changed, before := []int{0, 1, 2}, int64(-1)
	for at := range 6 {
		tiny := float32(part * (1 - 0x1p-13))
		if at%2 == 1 {
			tiny = part * (1 + 0x1p-13)
		}
		for j := 1; j < d; j++ {
			w.Row(0)[j] = tiny
		}
		want, err := step(got, reference, w, changed, 0)
		if err != nil {
			return fmt.Errorf("step %d: %w", at, err)
		}
		first := want.Predicted[0] + want.Predicted[1] + want.Predicted[2]
		if first == before {
			return fmt.Errorf("step %d: %d examples are predicted 0, as before: this case tests nothing",
				at, first)
		}
		changed, before = []int{0}, first
	}
	return errors.Join(got.Close(), f.intact())
}
