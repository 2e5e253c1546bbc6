package experiment

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/metric"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/kernelmean"
)

const meanPaper = "van Rooyen et al., Sparse Robust Classification via the Kernel Mean, "

var kernelMean = &Definition{
	Name: "kernel-mean", Usage: "the mean classifier where labels are wrong by chance (table 1 of its paper)",
	Paper: meanPaper + "Table 1",
	About: "The three points of Long and Servedio, (1,0), (g,5g) and twice as often (g,-g), with signs drawn at\n" +
		"random that their labels are; some labels turned round. Hyperplanes go through the origin. That g is 1/20,\n" +
		"and the 800 examples to train and 1000 to test on, are ours. Beside the linear mean, without C: the\n" +
		"exact minimum of the hinge loss, found among its corners, and softmax, which is logistic loss. The paper's\n" +
		"t-logistic loss is left out: no learner here has it.",
	Axis: "noise rate", run: runKernelMean,
}

// meanWay is the mean classifier, not told C.
var meanWay = way{name: "linear mean", params: func() learners.Params { return kernelmean.Defaults() }, blind: true}

// logistic is what a loss that is no linear one makes of the noise.
var logistic = way{name: "softmax, C = I", params: forward.params, blind: true}

const hinge = "hinge"

var (
	noiseRates = []float64{0, 0.1, 0.2, 0.3, 0.4, 0.49}
	paperMean  = []float64{0, 0, 0, 0, 0, 0.34}
	paperHinge = []float64{0, 0.15, 0.21, 0.38, 0.42, 0.47}
)

func runKernelMean(ctx context.Context, r *run) error {
	for level, rate := range noiseRates {
		runs := map[string][]float64{}
		for k := range r.Runs {
			seed := r.Seed + uint64(k)
			train, test := newThreePoints(800, seed, 1), newThreePoints(1000, seed, 2)
			noisy := train.turned(rate, seed)
			for _, w := range []way{meanWay, logistic} {
				report, err := r.learn(ctx, w, trial{train: noisy, test: test.Dataset, preparation: "none", seed: seed})
				if err != nil {
					return err
				}
				runs[w.name] = append(runs[w.name], report.ErrorRate)
			}
			w := train.leastHinge(noisy.Y)
			report, err := metric.Evaluate(test.Y, test.signs(w), test.Classes)
			if err != nil {
				return err
			}
			runs[hinge] = append(runs[hinge], report.ErrorRate)
		}
		paper := map[string]*float64{meanWay.name: &paperMean[level], hinge: &paperHinge[level]}
		for _, name := range []string{meanWay.name, hinge, logistic.name} {
			row := Row{Data: "long-servedio", Learner: name, Level: level, X: rate, Measure: ErrorRate, Paper: paper[name]}
			if err := r.write(row, runs[name]); err != nil {
				return err
			}
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

// newThreePoints draws n examples with right labels; class 1 has the points, class 0 their opposites.
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

// turned returns the examples with some labels turned round. Those turned at a low rate are at a higher one.
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

// leastHinge returns weights with the least sum of hinge losses for noisy labels. The sum is linear between
// the lines ⟨w,x⟩ = ±1 of the three points, so it is least where two of them meet.
func (p threePoints) leastHinge(noisy []int32) [2]float64 {
	var counts [3][2]float64 // of each point: labels turned round, and right ones
	for i, y := range noisy {
		right := 0
		if y == p.Y[i] {
			right = 1
		}
		counts[p.which[i]][right]++
	}
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
					(float64(s[0]*b[1]) - float64(s[1]*a[1])) / det, (float64(s[1]*a[0]) - float64(s[0]*b[0])) / det,
				}
				if v := loss(w); v < least {
					best, least = w, v
				}
			}
		}
	}
	return best
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
