package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
)

const toyAbout = `A toy of 10 classes, 1000 points of the unit circle (margin 0.025), tested on
10000: ‖Ĉ‖_F of the predictions. Columns of M sum to 1 here (the paper draws rows, and inverts what
has columns). Of each curve the paper's text tells the ends. UMA is the learner as it is by default,
and the paper's Algorithm 2 to the letter: one pair of classes a step, 5000 steps, the last
weights.`

// figure1a has labels of C_i learned with C_i, and without.
var figure1a = &experiment{
	Name: "fig1a", Usage: "UMA and perceptrons at 20 levels of noise (figure 1a of the UMA paper)",
	Paper: "Louche & Ralaivola (2015), Figure 1a", About: toyAbout, Axis: "‖C − diag(C)‖_F",
	run: func(ctx context.Context, r *run) error {
		return r.toyRows(ctx, func(all []*toy, level int) (x float64, labels int) {
			norms := make([]float64, len(all))
			for k, t := range all {
				norms[k] = offDiagonal(t.level(level))
			}
			x, _ = meanAndError(norms)
			return x, level
		}, 1, []toyCurve{{umaWay, paperUMA}, {umaPair, paperUMA}, {umaBlind, paperPerceptron},
			{perceptron, nil}})
	},
}

// figure1b has labels of M learned with C_0 to C_20: ρ = 1 to -1.
var figure1b = &experiment{
	Name:  "fig1b",
	Usage: "UMA told a C that is not quite that of the noise (figure 1b of the UMA paper)",
	Paper: "Louche & Ralaivola (2015), Figure 1b", About: toyAbout, Axis: "approximation factor",
	run: func(ctx context.Context, r *run) error {
		return r.toyRows(ctx, func(_ []*toy, level int) (x float64, labels int) {
			return float64(10-level) / 10, 10
		}, 0, []toyCurve{{umaWay, paperFactor}, {umaPair, paperFactor}})
	},
}

// What Section 4.1 says of the curves, in words alone.
var (
	paperUMA        = map[int]*float64{1: new(0.5), toyLevels: new(2.25)}
	paperPerceptron = map[int]*float64{1: new(1.7), toyLevels: new(2.75)}
	paperFactor     = map[int]*float64{0: new(2.6), 10: new(1.8), toyLevels: new(2.15)}
)

// toyCurve is a way to learn, and what the paper says of some levels.
type toyCurve struct {
	way
	paper map[int]*float64
}

// toyRows measures curves at the levels of C from first on. A level has a place on the axis, and
// labels of the same or of another level.
func (r *run) toyRows(ctx context.Context, at func(all []*toy, level int) (x float64, labels int),
	first int, curves []toyCurve) error {
	all := make([]*toy, r.Runs)
	for k := range all {
		all[k] = newToy(r.Seed + uint64(k))
	}
	for level := first; level <= toyLevels; level++ {
		x, labels := at(all, level)
		if err := r.repeat(ctx, fmt.Sprintf("level %d", level), func(seed uint64) error {
			for _, c := range curves {
				row := Row{Data: "toy", Learner: c.name, Level: level, X: x, Measure: Frobenius,
					Paper: c.paper[level]}
				if err := r.toyRun(ctx, row, c.way, all[seed-r.Seed], labels, level, seed); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// toyRun learns from labels of one level with the C of another.
func (r *run) toyRun(ctx context.Context, row Row, w way, t *toy, labels, told int, seed uint64,
) error {
	noisy, err := t.noisy(labels, seed)
	if err != nil {
		return err
	}
	report, err := r.learn(ctx, w, trial{noisy, t.test, t.level(told), "none", seed})
	if err != nil {
		return err
	}
	r.add(row, report.ConfusionRate*math.Sqrt(toyClasses)) // ‖Ĉ‖_F is √Q times the confusion rate
	return nil
}

// The toy of Section 4.1 of the UMA paper.
const (
	toyClasses  = 10
	toyTrain    = 1000
	toyTest     = 10000
	toyMargin   = 0.025
	toyLevels   = 20
	toyStream   = 0x746f79     // "toy": keeps these random numbers apart from others of the same seed
	noiseStream = 0x746f792d43 // "toy-C"
)

// toy is a problem of the toy experiments: points of the unit circle, each of the class whose
// vector is the nearest, by a margin.
type toy struct {
	train, test *dataset.Dataset // labels are right
	m           []float64        // M, Q×Q, columns sum to 1
}

// newToy draws a problem. Vectors that leave a class without examples, and an M with a level that
// cannot be inverted, are drawn again.
func newToy(seed uint64) *toy {
	rng := rand.New(rand.NewPCG(seed, toyStream))
	t := &toy{}
	for t.test == nil {
		w := make([][2]float64, toyClasses)
		for r := range w {
			w[r] = onCircle(rng)
		}
		if t.train = points(rng, w, toyTrain); t.train != nil {
			t.test = points(rng, w, toyTest)
		}
	}
	rng = rand.New(rand.NewPCG(seed, noiseStream))
	for t.m == nil || !t.invertible() { // the first matrix has always served
		t.m = make([]float64, toyClasses*toyClasses)
		for i := range t.m {
			t.m[i] = rng.Float64()
		}
		columnsToOne(t.m, toyClasses)
	}
	return t
}

// points draws n examples, nil where a class has none.
func points(rng *rand.Rand, w [][2]float64, n int) *dataset.Dataset {
	const tries = 100 // of points for one that is wanted; the margin leaves most of them
	d := &dataset.Dataset{Examples: dataset.Examples{N: n, D: 2}, Classes: classNames(len(w))}
	seen := make([]bool, len(w))
	for k := 0; len(d.Y) < n; k++ {
		if k == tries*n {
			return nil
		}
		at := onCircle(rng)
		if class, margin := nearest(w, at); margin > toyMargin {
			d.X, d.Y = append(d.X, float32(at[0]), float32(at[1])), append(d.Y, int32(class))
			seen[class] = true
		}
	}
	if slices.Contains(seen, false) {
		return nil
	}
	return d
}

func classNames(q int) []string {
	names := make([]string, q)
	for k := range names {
		names[k] = strconv.Itoa(k)
	}
	return names
}

// onCircle draws a point of the unit circle, without an angle: sines differ between processors.
func onCircle(rng *rand.Rand) [2]float64 {
	for {
		a, b := 2*rng.Float64()-1, 2*rng.Float64()-1
		if s := float64(a*a) + float64(b*b); s > 1e-6 && s <= 1 {
			return [2]float64{a / math.Sqrt(s), b / math.Sqrt(s)}
		}
	}
}

// nearest returns the class of the largest score, and by how much it is larger than the next.
func nearest(w [][2]float64, x [2]float64) (class int, margin float64) {
	best, second := math.Inf(-1), math.Inf(-1)
	for r, v := range w {
		score := float64(v[0]*x[0]) + float64(v[1]*x[1])
		if score > best {
			class, best, second = r, score, best
		} else {
			second = max(second, score)
		}
	}
	return class, best - second
}

// columnsToOne sets negative entries of a q×q matrix to 0 and divides each column by its sum,
// which is not 0.
func columnsToOne(m []float64, q int) []float64 {
	sums := make([]float64, q)
	for i, v := range m {
		m[i] = max(v, 0)
		sums[i%q] += m[i]
	}
	for i := range m {
		m[i] /= sums[i%q]
	}
	return m
}

// level returns C_i = Γ(I + i·N), N = (M − I)/10: the identity at 0, M at 10, and almost no label
// right at 20.
func (t *toy) level(i int) *confusion.Matrix {
	const q = toyClasses
	p := make([]float64, q*q)
	for k, v := range t.m {
		one := 0.0
		if k/q == k%q {
			one = 1
		}
		p[k] = one + float64(float64(i)*(v-one)/10)
	}
	return &confusion.Matrix{Classes: classNames(q), P: columnsToOne(p, q)}
}

// invertible says whether all levels are.
func (t *toy) invertible() bool {
	for i := 1; i <= toyLevels; i++ {
		if _, err := t.level(i).Invert(); err != nil {
			return false
		}
	}
	return true
}

// noisy returns the examples to train on with labels by C_i.
func (t *toy) noisy(i int, seed uint64) (*dataset.Dataset, error) {
	y, err := t.level(i).Inject(t.train.Y, seed)
	return like(t.train, t.train.Examples, y), err
}

// offDiagonal returns ‖C − diag(C)‖_F.
func offDiagonal(c *confusion.Matrix) float64 {
	sum, q := 0.0, c.Q()
	for k, v := range c.P {
		if k/q != k%q {
			sum += float64(v * v)
		}
	}
	return math.Sqrt(sum)
}
