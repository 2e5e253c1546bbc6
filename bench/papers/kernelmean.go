package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/means"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/kernelmean"
)

const meanPaper = "van Rooyen et al., Sparse Robust Classification via the Kernel Mean, "

var kernelMean = &experiment{
	Name:  "kernel-mean",
	Usage: "the mean classifier where labels are wrong by chance (table 1 of its paper)",
	Paper: meanPaper + "Table 1",
	About: `The three points of Long and Servedio, (1,0), (g,5g) and twice as often (g,-g), with signs
drawn at random that their labels are; some labels turned round. Hyperplanes go through the origin.
That g is 1/20, and the 800 examples to train and 1000 to test on, are ours. Beside the linear mean,
without C: the exact minimum of the hinge loss, found among its corners, the lowest of the minima of
the t-logistic loss (t = 2) that descents from 64 places find, and softmax, which is logistic
loss.`,
	Axis: "noise rate", run: runKernelMean,
}

var kernelMeanAtoms = &experiment{
	Name:  "kernel-mean-atoms",
	Usage: "few atoms for all points of 16 spots (figures 1 and 2 of its paper)",
	Paper: meanPaper + "Figures 1 and 2",
	About: `960 points in 16 spots of the plane, whose two classes alternate; a Gaussian kernel
function. Some of the points stand for all: one of each part into which farthest-first traversal
cuts a class (clusters), drawn at random (uniform), or herded. The paper says that 16 of the first
classify all points, and 16 of the second will with high probability miss a spot. Each has the
weights of its choice. Two measures: errors on the points themselves, and how far the means are from
the exact ones in feature space.`,
	Axis: "atoms", run: runKernelMeanAtoms,
}

// Distance is how far a mean by few atoms is from that by all examples, in feature space; of
// several classes the largest.
const Distance = "distance"

// meanWay is the mean classifier, not told C.
var meanWay = way{name: "linear mean",
	params: func() learners.Params {
		p := kernelmean.Defaults()
		p.Balanced = false // as in the paper
		return p
	}, blind: true}

// logistic is what a loss that is no linear one makes of the noise.
var logistic = way{name: "softmax, C = I", params: forward.params, blind: true}

const (
	hinge   = "hinge"
	heavier = "t-logistic"
)

var (
	noiseRates = []float64{0, 0.1, 0.2, 0.3, 0.4, 0.49}
	paperMean  = []float64{0, 0, 0, 0, 0, 0.34}
	paperHinge = []float64{0, 0.15, 0.21, 0.38, 0.42, 0.47}
	paperTails = []float64{0, 0, 0, 0.22, 0.22, 0.39}
)

func runKernelMean(ctx context.Context, r *run) error {
	return r.along(ctx, "long-servedio", noiseRates, func(row Row, seed uint64) error {
		train, test := newThreePoints(800, seed, 1), newThreePoints(1000, seed, 2)
		noisy := train.turned(row.X, seed)
		t := trial{train: noisy, test: test.Dataset, preparation: "none", seed: seed}
		mean, err := r.errorRate(ctx, meanWay, t)
		if err != nil {
			return err
		}
		softmax, err := r.errorRate(ctx, logistic, t)
		if err != nil {
			return err
		}
		corner, tails := train.leastHinge(noisy.Y), train.tLogistic(noisy.Y).least(starts())
		for _, c := range []struct {
			learner string
			paper   *float64
			wrong   float64
		}{
			{meanWay.name, &paperMean[row.Level], mean},
			{hinge, &paperHinge[row.Level], wrong(test.signs(corner), test.Y)},
			{heavier, &paperTails[row.Level], wrong(test.signs([2]float64(tails)), test.Y)},
			{logistic.name, nil, softmax},
		} {
			row.Learner, row.Paper = c.learner, c.paper
			r.add(row, c.wrong)
		}
		return nil
	})
}

// threePoints are examples of the distribution that Long and Servedio found.
type threePoints struct {
	*dataset.Dataset
	which []int // of each example: the point that it, or the opposite of it, is
}

// margin is g of Long and Servedio, the score of two of the points by (1,0).
const margin = 0.05

var pointsOfThree = [3][2]float64{{1, 0}, {margin, 5 * margin}, {margin, -margin}}

// newThreePoints draws n examples with right labels; class 1 has the points, class 0 their
// opposites.
func newThreePoints(n int, seed, part uint64) threePoints {
	rng := rand.New(rand.NewPCG(seed, 0x33707473<<8|part)) // "3pts"
	d := &dataset.Dataset{Examples: dataset.Examples{N: n, D: 2}, Classes: classNames(2)}
	p := threePoints{d, make([]int, n)}
	for i := range n {
		at, class := min(rng.IntN(4), 2), rng.IntN(2)
		sign := float64(2*class - 1)
		d.X = append(d.X, float32(sign*pointsOfThree[at][0]), float32(sign*pointsOfThree[at][1]))
		d.Y, p.which[i] = append(d.Y, int32(class)), at
	}
	return p
}

// turned returns the examples with some labels turned round. Those turned at a low rate are at a
// higher one.
func (p threePoints) turned(rate float64, seed uint64) *dataset.Dataset {
	rng := rand.New(rand.NewPCG(seed, 0x7475726e)) // "turn"
	y := slices.Clone(p.Y)
	for i := range y {
		if rng.Float64() < rate {
			y[i] = 1 - y[i]
		}
	}
	return like(p.Dataset, p.Examples, y)
}

// counts returns of each point how many of its labels were turned round, and how many are right.
func (p threePoints) counts(noisy []int32) (counts [3][2]float64) {
	for i, y := range noisy {
		right := 0
		if y == p.Y[i] {
			right = 1
		}
		counts[p.which[i]][right]++
	}
	return counts
}

// leastHinge returns weights with the least sum of hinge losses for noisy labels. The sum is
// linear between the lines ⟨w,x⟩ = ±1 of the three points, so it is least where two of them meet.
func (p threePoints) leastHinge(noisy []int32) [2]float64 {
	counts := p.counts(noisy)
	loss := func(w [2]float64) float64 {
		sum := 0.0
		for k, x := range pointsOfThree {
			m := float64(w[0]*x[0]) + float64(w[1]*x[1])
			sum += float64(counts[k][1]*max(0, 1-m)) + float64(counts[k][0]*max(0, 1+m))
		}
		return sum
	}
	best, least := [2]float64{}, loss([2]float64{})
	for k, a := range pointsOfThree {
		for _, b := range pointsOfThree[:k] {
			det := float64(a[0]*b[1]) - float64(a[1]*b[0])
			for _, s := range [][2]float64{{1, 1}, {1, -1}, {-1, 1}, {-1, -1}} {
				w := [2]float64{
					(float64(s[0]*b[1]) - float64(s[1]*a[1])) / det,
					(float64(s[1]*a[0]) - float64(s[0]*b[0])) / det,
				}
				if v := loss(w); v < least {
					best, least = w, v
				}
			}
		}
	}
	return best
}

// tLogistic returns the t-logistic loss of the points for noisy labels. It has next to no penalty,
// as the hinge loss has none.
func (p threePoints) tLogistic(noisy []int32) *tLogistic {
	l := &tLogistic{d: 2, lambda: 1e-9}
	counts := p.counts(noisy)
	for k, x := range pointsOfThree {
		for side, sign := range []float64{-1, 1} {
			if c := counts[k][side]; c > 0 {
				l.n++
				l.x, l.counts = append(l.x, float64(sign*x[0]), float64(sign*x[1])), append(l.counts, c)
			}
		}
	}
	return l
}

// starts are weights from which to descend, in all directions and of the sizes that points so near
// and so far make.
func starts() (from [][]float64) {
	for _, size := range []float64{1, 10, 100, 1000} {
		for _, at := range [][2]float64{{1, 0}, {2, 1}, {1, 1}, {1, 2}} {
			for range 4 {
				from = append(from, []float64{float64(size * at[0]), float64(size * at[1])})
				at[0], at[1] = -at[1], at[0]
			}
		}
	}
	return from
}

// signs predicts class 1 where w's score is above 0.
func (p threePoints) signs(w [2]float64) []int32 {
	predicted := make([]int32, p.N)
	for i := range predicted {
		x := p.Row(i)
		if float64(w[0]*float64(x[0]))+float64(w[1]*float64(x[1])) > 0 {
			predicted[i] = 1
		}
	}
	return predicted
}

func runKernelMeanAtoms(ctx context.Context, r *run) error {
	atoms := []float64{8, 12, 16, 24, 32, 48, 64, 128, 256}
	return r.along(ctx, "16 spots", atoms, func(row Row, seed uint64) error {
		for _, choice := range []string{means.Clusters, means.Uniform, means.Herding} {
			wrong, far, err := r.spotsByAtoms(ctx, int(row.X), choice, seed)
			if err != nil {
				return fmt.Errorf("%s: %w", choice, err)
			}
			row.Learner, row.Measure, row.Paper = choice, ErrorRate, nil
			if choice == means.Clusters && row.X == 16 {
				row.Paper = new(0.0)
			}
			r.add(row, wrong)
			row.Measure, row.Paper = Distance, nil
			r.add(row, far)
		}
		return nil
	})
}

// spotsByAtoms draws a problem and returns the share of its points that this number of atoms gets
// wrong, and the distance.
func (r *run) spotsByAtoms(ctx context.Context, atoms int, choice string, seed uint64,
) (errors, far float64, err error) {
	d := newSpots(960, seed)
	m, err := means.Fit(ctx, r.Engine, d.Examples, d.Y, 2, means.Options{
		Function: kernel.Function{Kind: kernel.RBF, Gamma: 4},
		Atoms:    atoms, Choice: choice, Weights: means.Own, Seed: seed})
	if err != nil {
		return 0, 0, err
	}
	means := make([]float32, 2*d.N)
	if err := r.Engine.Project(means, d.Examples, m.Projection); err != nil {
		return 0, 0, err
	}
	predicted := make([]int32, d.N)
	for i := range predicted {
		if means[2*i+1] > means[2*i] {
			predicted[i] = 1
		}
	}
	return wrong(predicted, d.Y), slices.Max(m.Error), nil
}

// newSpots draws n points in 16 spots, four by four, as many in each, whose classes alternate as
// on a chessboard.
func newSpots(n int, seed uint64) *dataset.Dataset {
	const size = 0.1                                 // radius of a spot; the middles are 1 apart
	rng := rand.New(rand.NewPCG(seed, 0x73706f7473)) // "spots"
	d := &dataset.Dataset{Examples: dataset.Examples{N: n, D: 2}, Classes: classNames(2)}
	for i := range n {
		row, column := i%4, i/4%4
		a, b := 1.0, 1.0
		for float64(a*a)+float64(b*b) > 1 {
			a, b = 2*rng.Float64()-1, 2*rng.Float64()-1
		}
		d.X = append(d.X, float32(float64(row)+float64(size*a)),
			float32(float64(column)+float64(size*b)))
		d.Y = append(d.Y, int32((row+column)%2))
	}
	return d
}
