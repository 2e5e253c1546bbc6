package catalog_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
)

var background = context.Background()

// task is a problem without an engine, whose true labels are known.
type task struct {
	x     dataset.Examples
	y     []int32 // noisy
	truth []int32
	q     int
	noise *confusion.Matrix // nil for none
}

func (t task) on(e *engine.Engine) *learners.Problem {
	return &learners.Problem{X: t.x, Y: t.y, Q: t.q, Noise: t.noise, Engine: e, Seed: 5}
}

// classes are the names of q classes.
func classes(q int) (names []string) {
	for c := range q {
		names = append(names, fmt.Sprint(c))
	}
	return names
}

// must is for what fails only if this package is wrong.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// features of tasks for several engines: 288 kB of examples, which small devices cut in tiles, of
// 256 at least. One engine for processors has fewer.
const features, fewFeatures = 150, 50

// separated is a task of classes far apart: each has three features of its own that are 1 where
// the other classes' are 0; half of the rest is small noise, half 0. Six of ten copies of each
// example have the next class for label, which is exactly what the confusion matrix says, so sums
// over classes are unmixed without error: who uses C as is right finds every true class, and no
// two scores are near each other.
func (s subject) separated(q int) task {
	const points, copies, wrong = 12, 10, 6
	rng := rand.New(rand.NewPCG(uint64(q), 1))
	t := task{q: q, noise: must(confusion.Pairwise(classes(q), float64(wrong)/copies))}
	var x []float32
	for range points * q {
		row := make([]float32, s.features)
		c := len(x) / s.features % q
		for j := range row {
			if j/3 == c {
				row[j] = 1
			} else if j >= 3*q && j%2 == 0 {
				row[j] = float32(rng.Float64()-0.5) / 4
			}
		}
		x = append(x, row...)
	}
	for i := range copies {
		t.x.X = append(t.x.X, x...)
		for c := range points * q {
			t.truth = append(t.truth, int32(c%q))
			label := c % q
			if i < wrong {
				label = (c + 1) % q
			}
			t.y = append(t.y, int32(label))
		}
	}
	t.x.N, t.x.D = len(t.y), s.features
	return t
}

// overlapping is a task that no learner is done with soon: classes whose examples lie among
// each other, and labels wrong at random. Half of the values are 0.
func (s subject) overlapping() task {
	const n, q = 480, 4
	rng := rand.New(rand.NewPCG(2, 3))
	t := task{q: q, noise: must(confusion.Pairwise(classes(q), 0.3))}
	t.x = dataset.Examples{N: n, D: s.features, X: make([]float32, n*s.features)}
	for i := range n {
		t.truth = append(t.truth, int32(rng.IntN(q)))
		row := t.x.Row(i)
		for j := range row {
			if (i+j)%2 == 0 {
				row[j] = float32(rng.NormFloat64()) / 4
			}
		}
		row[t.truth[i]] += 0.5
	}
	t.y = must(t.noise.Inject(t.truth, 1))
	return t
}

// permuteClasses gives class c the number to[c].
func (t task) permuteClasses(to []int32) task {
	names, p := make([]string, t.q), make([]float64, t.q*t.q)
	for r, toR := range to {
		names[toR] = t.noise.Classes[r]
		for c, toC := range to {
			p[int(toR)*t.q+int(toC)] = t.noise.P[r*t.q+c]
		}
	}
	t.noise = &confusion.Matrix{Classes: names, P: p}
	t.y, t.truth = slices.Clone(t.y), slices.Clone(t.truth)
	for i := range t.y {
		t.y[i], t.truth[i] = to[t.y[i]], to[t.truth[i]]
	}
	return t
}

// mapRows returns t with each example x replaced by f(x), all of the same width.
func (t task) mapRows(f func(row []float32) []float32) task {
	x := dataset.Examples{N: t.x.N}
	for i := range t.x.N {
		x.X = append(x.X, f(slices.Clone(t.x.Row(i)))...)
	}
	x.D = len(x.X) / x.N
	t.x = x
	return t
}

// scaled returns t with all values multiplied.
func (t task) scaled(by float32) task {
	return t.mapRows(func(row []float32) []float32 {
		for j := range row {
			row[j] *= by
		}
		return row
	})
}

// sparse returns t in the other storage.
func (t task) sparse() task {
	t.x = t.x.Compressed()
	return t
}

// clone returns a copy that shares nothing.
func (t task) clone() task {
	x := &t.x
	x.X, x.Starts = slices.Clone(x.X), slices.Clone(x.Starts)
	x.Columns, x.Values = slices.Clone(x.Columns), slices.Clone(x.Values)
	t.y, t.truth = slices.Clone(t.y), slices.Clone(t.truth)
	if t.noise != nil {
		t.noise = &confusion.Matrix{Classes: slices.Clone(t.noise.Classes), P: slices.Clone(t.noise.P)}
	}
	return t
}
