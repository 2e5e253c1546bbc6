package online_test

import (
	"math"
	"testing"

	"github.com/uma-gpu/uma-gpu/host"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/online"
)

// centred is the twin of COPA: it halves an interval until the mean of α is found. worth has the
// factor of the aggressiveness for each class.
func centred(worth []float64) tauOf {
	return func(s []float64, y int, norm2 float64) []float64 {
		q := float64(len(s))
		kappa := 1/worth[y] + norm2
		alpha := func(r int, mean float64) float64 {
			if r == y {
				return 0
			}
			return max(0, s[r]+1/(q-1)+mean*norm2) / kappa
		}
		low, high := 0.0, 1e6
		for range 200 {
			mean, sum := (low+high)/2, 0.0
			for r := range s {
				sum += alpha(r, mean)
			}
			if sum/q > mean {
				low = mean
			} else {
				high = mean
			}
		}
		tau := make([]float64, len(s))
		for r := range tau {
			tau[r] = low - alpha(r, low)
		}
		return tau
	}
}

// worths are what examples of each class are worth with an aggressiveness of c.
func worths(p *learners.Problem, c float64) []float64 {
	counts, worth := make([]float64, p.Q), make([]float64, p.Q)
	for _, y := range p.Y {
		counts[y]++
	}
	for r, count := range counts {
		factor := float64(len(p.Y)) / (float64(p.Q) * count)
		worth[r] = c * factor * factor
	}
	return worth
}

func TestCopa(t *testing.T) {
	for _, q := range []int{2, 5} {
		for _, c := range []float64{0.03, 2} {
			p := clouds(100, 300, q)
			judge(t, p, func(last bool) learners.Params {
				return inOrderOf("copa", last, func(p *online.Params) { p.Aggressiveness = c })
			}, func() tauOf { return centred(worths(p, c)) })
		}
	}
}

// The reported risk is the largest singular value of the mean losses of the classes, for two
// classes the larger loss; the bound is the one in Theorem 2. For noisy labels C⁻¹ separates the
// means.
func TestCopaTellsItsRisk(t *testing.T) {
	for _, rate := range []float64{0, 0.2} {
		p := clouds(100, 20, 2)
		inverse := []float64{1, 0, 0, 1}
		if rate > 0 {
			inverse = noisy(t, p, rate)
		}
		var sums [2][2]float64 // by label and class
		var labels [2]float64
		most := 0.0
		tau := centred(worths(p, 1))
		twin(p, inOrder(100), 1, func(s []float64, y int, norm2 float64) []float64 {
			for r, score := range s {
				loss := max(0, score+1)
				sums[y][r] += loss
				if rate > 0 || r != y {
					most = max(most, loss)
				}
			}
			labels[y]++
			return tau(s, y, norm2)
		})
		var norm, squares float64
		for k := range 2 {
			count := inverse[2*k]*labels[0] + inverse[2*k+1]*labels[1]
			norm = max(norm, (inverse[2*k]*sums[0][1-k]+inverse[2*k+1]*sums[1][1-k])/count)
			for y := range 2 {
				squares += labels[y] * math.Pow(inverse[2*k+y]/count, 2)
			}
		}
		bound := norm + most*math.Sqrt(2*2*squares*math.Log(2*2/0.05))
		told := 0
		c := inOrderOf("copa", false, nil)
		_, err := host.Run(t.Context(), c, p, host.RunOptions{MaxSteps: 1, OnStep: func(r host.Report) {
			for _, f := range r.Fields {
				if want, ok := map[string]float64{"confusion risk": norm, "bound": bound}[f.Name]; ok {
					told++
					if got := f.Value.(float64); math.Abs(got-want) > 1e-6*want {
						t.Errorf("noise %v: %s is %v, wanted %v", rate, f.Name, got, want)
					}
				}
			}
		}})
		if err != nil || told != 2 {
			t.Errorf("%d numbers told, %v; wanted 2", told, err)
		}
	}
}
