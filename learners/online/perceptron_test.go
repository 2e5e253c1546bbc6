package online_test

import (
	"math/rand/v2"
	"testing"

	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/online"
)

func TestPerceptron(t *testing.T) {
	for _, q := range []int{2, 5} {
		judge(t, clouds(200, 300, q), func(last bool) learners.Params {
			return inOrderOf("perceptron", last, nil)
		}, func() tauOf {
			return func(s []float64, y int, _ float64) []float64 {
				tau, best := make([]float64, len(s)), -1
				for r, v := range s {
					if r != y && (best < 0 || v > s[best]) {
						best = r
					}
				}
				if s[best] >= s[y] {
					tau[y], tau[best] = 1, -1
				}
				return tau
			}
		})
		judge(t, clouds(200, 300, q), func(last bool) learners.Params {
			return inOrderOf("perceptron", last, func(p *online.Params) { p.Multiclass = online.OVR })
		}, func() tauOf {
			return func(s []float64, y int, _ float64) []float64 {
				tau := make([]float64, len(s))
				for r, v := range s {
					sign := -1.0
					if r == y {
						sign = 1
					}
					if sign*v <= 0 {
						tau[r] = sign
					}
				}
				return tau
			}
		})
	}
}

// share is the twin of the ultraconservative steps: it divides 1 among the error set.
func share(step string, seed uint64) tauOf {
	rng := rand.New(rand.NewPCG(seed, 0x6f6e6c696e65))
	return func(s []float64, y int, _ float64) []float64 {
		tau := make([]float64, len(s))
		var set []int
		best, excess := -1, 0.0
		for r, v := range s {
			if r != y && v >= s[y] {
				set, excess = append(set, r), excess+(v-s[y])
				if best < 0 || v > s[best] {
					best = r
				}
			}
		}
		if len(set) == 0 {
			return tau
		}
		tau[y] = 1
		switch {
		case step == online.StepMax:
			tau[best] = -1
		case step == online.StepRandom:
			tau[set[rng.IntN(len(set))]] = -1
		default:
			for _, r := range set {
				if tau[r] = -1 / float64(len(set)); step == online.StepProportional && excess > 0 {
					tau[r] = -(s[r] - s[y]) / excess
				}
			}
		}
		return tau
	}
}

func TestUltraconservative(t *testing.T) {
	for _, step := range []string{online.StepMax, online.StepUniform, online.StepProportional,
		online.StepRandom} {
		t.Run(step, func(t *testing.T) {
			p := clouds(200, 300, 5)
			judge(t, p, func(last bool) learners.Params {
				return inOrderOf("ultraconservative", last, func(p *online.Params) { p.Step = step })
			}, func() tauOf { return share(step, p.Seed) })
		})
	}
}

// A weighted example is one that is added as often; all labels count alike.
func TestClassWeights(t *testing.T) {
	p := clouds(200, 20, 3)
	var counts [3]float64
	for _, y := range p.Y {
		counts[y]++
	}
	judge(t, p, func(last bool) learners.Params {
		return inOrderOf("ultraconservative", last, func(p *online.Params) {
			p.ClassWeights = learners.Balanced
		})
	}, func() tauOf {
		plain := share(online.StepUniform, 0)
		return func(s []float64, y int, norm2 float64) []float64 {
			tau := plain(s, y, norm2)
			for r := range tau {
				tau[r] *= 200 / (3 * counts[y])
			}
			return tau
		}
	})
}

// Each pass takes the examples in another order, which the seed decides.
func TestOrder(t *testing.T) {
	p := clouds(100, 20, 3)
	rng := rand.New(rand.NewPCG(p.Seed, 0x6f6e6c696e65))
	var order []int
	for range 2 {
		one := inOrder(100)
		rng.Shuffle(100, func(i, j int) { one[i], one[j] = one[j], one[i] })
		order = append(order, one...)
	}
	want, _ := twin(p, order, 1, share(online.StepMax, 0))
	got := train(t, inOrderOf("ultraconservative", true, func(p *online.Params) {
		p.NoShuffle, p.Step = false, online.StepMax
	}), p, 2)
	for k, v := range got {
		if v != want[k] {
			t.Fatalf("weight %d is %v, the twin's %v", k, v, want[k])
		}
	}
}
