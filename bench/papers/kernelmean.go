package main

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/judge/metric"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/kernelmean"
)

const meanPaper = "van Rooyen et al., Sparse Robust Classification via the Kernel Mean, "

var kernelMean = &experiment{
	Name: "kernel-mean", Usage: "the mean classifier where labels are wrong by chance (table 1 of " +
		"its paper)",
	Paper: meanPaper + "Table 1",
	About: "The three points of Long and Servedio, (1,0), (g,5g) and twice as often (g,-g), with " +
		"signs drawn at\n" +
		"random that their labels are; some labels turned round. Hyperplanes go through the origin. " +
		"That g is 1/20,\n" +
		"and the 800 examples to train and 1000 to test on, are ours. Beside the linear mean, without " +
		"C: the\n" +
		"exact minimum of the hinge loss, found among its corners, the lowest of the minima of the " +
		"t-logistic loss\n" +
		"(t = 2) that descents from 64 places find, and softmax, which is logistic loss.",
	Axis: "noise rate", run: runKernelMean,
}

// meanWay is the mean classifier, not told C.
var meanWay = way{name: "linear mean",
	params: func() learners.Params { return kernelmean.Defaults() }, blind: true}

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
	for level, rate := range noiseRates {
		var t tally
		for k := range r.Runs {
			seed, found := r.Seed+uint64(k), map[string]float64{}
			train, test := newThreePoints(800, seed, 1), newThreePoints(1000, seed, 2)
			noisy := train.turned(rate, seed)
			for _, w := range []way{meanWay, logistic} {
				report, err := r.learn(ctx, w, trial{train: noisy, test: test.Dataset, preparation: "none",
					seed: seed})
				if err != nil {
					return err
				}
				found[w.name] = report.ErrorRate
			}
			tails := train.tLogistic(noisy.Y)
			for name, w := range map[string][2]float64{
				hinge: train.leastHinge(noisy.Y), heavier: [2]float64(tails.least(starts())),
			} {
				report, err := metric.Evaluate(test.Y, test.signs(w), test.Classes)
				if err != nil {
					return err
				}
				found[name] = report.ErrorRate
			}
			paper := map[string]*float64{
				meanWay.name: &paperMean[level], hinge: &paperHinge[level], heavier: &paperTails[level],
			}
			for _, name := range []string{meanWay.name, hinge, heavier, logistic.name} {
				t.add(Row{Data: "long-servedio", Learner: name, Level: level, X: rate, Measure: ErrorRate,
					Paper: paper[name]}, found[name])
			}
		}
		if err := r.writeAll(t); err != nil {
			return err
		}
		r.Note("%s: noise %v", r.name, rate)
	}
	return nil
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
	d.SHA256 = d.Hash()
	return p
}

// turned returns the examples with some labels turned round. Those turned at a low rate are at a
// higher one.
func (p threePoints) turned(rate float64, seed uint64) *dataset.Dataset {
	rng := rand.New(rand.NewPCG(seed, 0x7475726e)) // "turn"
	d := *p.Dataset
	d.Y = slices.Clone(d.Y)
	for i := range d.Y {
		if rng.Float64() < rate {
			d.Y[i] = 1 - d.Y[i]
		}
	}
	d.SHA256 = d.Hash()
	return &d
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
