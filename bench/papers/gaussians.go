package main

import (
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// The classes of Section 4 of the COPA paper.
var (
	gaussianCentres = [3][2]float64{{0, 1}, {1, 0}, {-1, 0}}
	gaussianWeights = [3]float64{0.9, 0.05, 0.05}
)

const (
	gaussianSigma  = 0.5
	gaussianStream = 0x636f7061 // "copa"
)

// gaussians draws n examples of three classes.
func gaussians(rng *rand.Rand, n int) *dataset.Dataset {
	d := &dataset.Dataset{Examples: dataset.Examples{N: n, D: 2},
		Classes: classNames(len(gaussianCentres))}
	for range n {
		y, u := 0, rng.Float64()
		for u >= gaussianWeights[y] && y+1 < len(gaussianWeights) {
			u -= gaussianWeights[y]
			y++
		}
		d.Y = append(d.Y, int32(y))
		for _, c := range gaussianCentres[y] {
			d.X = append(d.X, float32(c+float64(gaussianSigma*normal(rng))))
		}
	}
	d.SHA256 = d.Hash()
	return d
}

// normal draws from the standard normal distribution by comparing uniform numbers, without an
// exponential or a logarithm: those differ between processors (Karney, Sampling exactly from the
// normal distribution, ACM TOMS 42 (2016), Algorithm N).
func normal(rng *rand.Rand) float64 {
	for {
		k := 0
		for rootE(rng) {
			k++
		}
		x, taken := rng.Float64(), true
		for i := 0; i < k*(k-1) && taken; i++ {
			taken = rootE(rng)
		}
		for i := 0; i <= k && taken; i++ {
			taken = within(rng, float64(k), x)
		}
		switch {
		case !taken:
		case rng.IntN(2) == 0:
			return -(float64(k) + x)
		default:
			return float64(k) + x
		}
	}
}

// rootE is true with the probability exp(-1/2): that of an even number of uniform numbers that
// fall, the first below 1/2 (Algorithm H).
func rootE(rng *rand.Rand) bool {
	even, last := true, 0.5
	for u := rng.Float64(); u < last; u = rng.Float64() {
		even, last = !even, u
	}
	return even
}

// within is true with the probability exp(-x·(2k+x)/(2k+2)) (Algorithm B).
func within(rng *rand.Rand, k, x float64) bool {
	even, last := true, x
	for {
		u := rng.Float64()
		if u >= last || rng.Float64() >= (float64(2*k)+x)/(float64(2*k)+2) {
			return even
		}
		even, last = !even, u
	}
}
