package online_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/online"
)

// step is how far an example of loss ℓ moves W, by Figure 1 of Crammer et al. (2006), times is
// how often it is added: once in a problem of two classes, else to one class and off another.
func step(variant string, loss, norm2, c, times float64) float64 {
	switch variant {
	case "pa1":
		return min(c, loss/(times*norm2))
	case "pa2":
		return loss / (times*norm2 + 1/(2*c))
	}
	return loss / (times * norm2)
}

// againstBest is the twin of multiclass max.
func againstBest(variant string, c float64) tauOf {
	return func(s []float64, y int, norm2 float64) []float64 {
		tau, best := make([]float64, len(s)), -1
		for r := range s {
			if r != y && (best < 0 || s[r] > s[best]) {
				best = r
			}
		}
		if loss := 1 - (s[y] - s[best]); loss > 0 {
			tau[y] = step(variant, loss, norm2, c, 2)
			tau[best] = -tau[y]
		}
		return tau
	}
}

// oneVersusRest is the twin of multiclass ovr.
func oneVersusRest(variant string, c float64) tauOf {
	return func(s []float64, y int, norm2 float64) []float64 {
		tau := make([]float64, len(s))
		for r := range s {
			sign := -1.0
			if r == y {
				sign = 1
			}
			if loss := 1 - sign*s[r]; loss > 0 {
				tau[r] = sign * step(variant, loss, norm2, c, 1)
			}
		}
		return tau
	}
}

func TestPassiveAggressive(t *testing.T) {
	twins := map[string]func(string, float64) tauOf{
		online.Max: againstBest, online.OVR: oneVersusRest,
	}
	for _, q := range []int{2, 5} {
		p := clouds(60, 300, q)
		for multiclass, twin := range twins {
			for _, variant := range []string{"pa", "pa1", "pa2"} {
				for _, c := range []float64{0.1, 3} {
					t.Run(fmt.Sprint(variant, multiclass, q, c), func(t *testing.T) {
						judge(t, p, func(last bool) learners.Params {
							return inOrderOf(variant, last, func(p *online.Params) {
								p.Multiclass = multiclass
								if variant != "pa" {
									p.Aggressiveness = c
								}
							})
						}, func() tauOf { return twin(variant, c) })
					})
				}
			}
		}
	}
}

func TestMira(t *testing.T) {
	for _, q := range []int{2, 5} {
		judge(t, clouds(150, 300, q), func(last bool) learners.Params {
			return inOrderOf("mira", last, func(p *online.Params) { p.Margin = 0.3 })
		}, func() tauOf { return nearestOfSimplex })
	}
}

// nearestOfSimplex is the twin of MIRA with a margin of 0.3: it halves an interval until θ is
// found.
func nearestOfSimplex(s []float64, y int, norm2 float64) []float64 {
	tau, d := make([]float64, len(s)), make([]float64, len(s))
	for r := range d {
		d[r] = s[r]/norm2 + 0.3
	}
	d[y] = s[y]/norm2 + 1
	low, high := slices.Min(d)-1, slices.Max(d)
	for range 200 {
		theta, sum := (low+high)/2, 0.0
		for r, v := range d {
			tau[r] = -math.Max(0, v-theta)
			sum -= tau[r]
		}
		if sum > 1 {
			low = theta
		} else {
			high = theta
		}
	}
	tau[y]++
	return tau
}
