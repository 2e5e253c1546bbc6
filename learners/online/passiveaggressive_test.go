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

// againstAll is the twin of multiclass all: it tries every number of support classes and takes
// the one after which those, and no others, miss the margin by as much as the cost says.
func againstAll(variant string, c float64) tauOf {
	return func(s []float64, y int, norm2 float64) []float64 {
		var losses []float64
		for r := range s {
			if r != y {
				losses = append(losses, 1-(s[y]-s[r]))
			}
		}
		slices.Sort(losses)
		slices.Reverse(losses)
		tau := make([]float64, len(s))
		for _, capped := range []bool{false, true} {
			sum := 0.0
			for k, loss := range losses {
				sum += loss / norm2
				beta := 1.0
				if variant == "pa2" {
					beta += 1 / (2 * c * norm2)
				}
				total := sum / (1 + beta*float64(k+1))
				theta := beta * total
				if capped {
					total, theta = c, (sum-c)/float64(k+1)
				}
				fits := loss/norm2 > theta && (k+1 == len(losses) || losses[k+1]/norm2 <= theta)
				if loss <= 0 || !fits || variant == "pa1" && !capped && total > c {
					continue
				}
				for r := range s {
					if r != y {
						tau[r] = -max(0, (1-(s[y]-s[r]))/norm2-theta)
					}
				}
				tau[y] = total
				return tau
			}
			if variant != "pa1" {
				break
			}
		}
		return tau
	}
}

func TestPassiveAggressive(t *testing.T) {
	twins := map[string]func(string, float64) tauOf{
		online.Max: againstBest, online.OVR: oneVersusRest, online.All: againstAll,
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
