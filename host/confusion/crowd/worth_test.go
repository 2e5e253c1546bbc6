package crowd_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/confusion/crowd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// programs are votes on n examples by programs whose labels have these accuracies, and of the last
// a copy of the second that errs anew in some examples;
// Anna labels the first 100 rightly.
func programs(n int, rates []float64, anew float64, seed uint64) (a *dataset.Annotations,
	matrices [][]float64, right []int32) {
	const q = 3
	rng := rand.New(rand.NewPCG(seed, 5))
	a = &dataset.Annotations{Classes: names(q), Names: []string{"Anna"}, Start: []int{0}}
	for k, rate := range rates {
		a.Names = append(a.Names, string(rune('a'+k)))
		m := make([]float64, q*q)
		for at := range m {
			m[at] = (1 - rate) / (q - 1)
			if at/q == at%q {
				m[at] = rate
			}
		}
		matrices = append(matrices, m)
	}
	a.Right = make([]bool, len(a.Names))
	a.Right[0] = true
	for i := range n {
		truth := draw([]float64{.6, 0, 0, .3, 0, 0, .1, 0, 0}, q, 0, rng.Float64())
		right = append(right, truth)
		if i < 100 {
			a.By, a.Label = append(a.By, 0), append(a.Label, truth)
		}
		var said []int32
		for k, m := range matrices {
			label := draw(m, q, int(truth), rng.Float64())
			if u := rng.Float64(); k == 3 && u >= anew {
				label = said[1]
			}
			said = append(said, label)
			a.By, a.Label = append(a.By, int32(k+1)), append(a.Label, label)
		}
		a.Start = append(a.Start, len(a.By))
	}
	return a, matrices, right
}

// With 100 checked examples the matrices of three programs come back, .03 off in the mean and .12
// at most, and the shares of the classes within .04. A program that guesses has no gain.
func TestProgramsAsAnnotators(t *testing.T) {
	for seed := range uint64(5) {
		a, matrices, right := programs(1000, []float64{.85, .8, 1. / 3}, 1, seed)
		found, err := crowd.Fit(t.Context(), a, crowd.Options{})
		if err != nil {
			t.Fatal(err)
		}
		off, mean, shares := 0.0, 0.0, make([]float64, 3)
		for k, m := range matrices {
			for at, v := range m {
				one := math.Abs(found.Annotators[k+1].P[at] - v)
				off, mean = max(off, one), mean+one/27
			}
		}
		for _, k := range right {
			shares[k] += .001
		}
		apart := 0.0
		for k, v := range shares {
			apart = max(apart, math.Abs(found.Prior[k]-v))
		}
		gains := found.Gains(a)
		what := fmt.Sprintf("seed %d: matrices off by %.3f, %.3f in the mean, shares by %.3f, gains %.1f",
			seed, off, mean, apart, gains)
		t.Log(what)
		if off > 0.12 || mean > 0.03 || apart > 0.04 || gains[3] > 1 || min(gains[1], gains[2]) < 5 {
			t.Error(what)
		}
		if alike := crowd.ErrAlike(a); alike != nil {
			t.Errorf("seed %d: %+v err alike", seed, alike)
		}
	}
}

// A program that copies another in three of five examples is found by examples of known class,
// and the consensus is better without it.
func TestProgramsThatErrAlike(t *testing.T) {
	for seed := range uint64(5) {
		var share [2]float64
		for k, rates := range [][]float64{{.9, .75, .6, .75}, {.9, .75, .6}} {
			a, _, right := programs(1000, rates, .4, seed)
			found, err := crowd.Fit(t.Context(), a, crowd.Options{})
			if err != nil {
				t.Fatal(err)
			}
			share[k] = shareRight(found.Consensus, right)
			alike := crowd.ErrAlike(a)
			if len(alike) != 1-k || k == 0 && (alike[0].First != "b" || alike[0].Second != "d") {
				t.Errorf("seed %d: %+v err alike", seed, alike)
			}
		}
		t.Logf("seed %d: right %.3f with the copy, %.3f without", seed, share[0], share[1])
		if share[0] >= share[1] {
			t.Errorf("seed %d: %.3f with the copy, %.3f without", seed, share[0], share[1])
		}
	}
}
