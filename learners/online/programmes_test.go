package online

import (
	"math"
	"math/rand/v2"
	"testing"
)

// draw makes scores of some classes up, and an example of one of them.
func draw(rng *rand.Rand) ([]float32, *example) {
	s := make([]float32, 2+rng.IntN(6))
	for r := range s {
		s[r] = float32(rng.NormFloat64()) * 2
	}
	return s, &example{y: rng.IntN(len(s)), weight: 0.5 + rng.Float64(), norm2: float32(0.1 +
		3*rng.Float64())}
}

// isLeast moves τ a little in many feasible ways: no way is better. loss is what is minimised,
// feasible makes any τ one that is allowed.
func isLeast(t *testing.T, rng *rand.Rand, tau []float32, loss func([]float64) float64,
	feasible func([]float64)) {
	t.Helper()
	at := make([]float64, len(tau))
	for r, v := range tau {
		at[r] = float64(v)
	}
	exact := append([]float64(nil), at...)
	feasible(exact)
	for r, v := range at {
		if math.Abs(v-exact[r]) > 1e-5 {
			t.Fatalf("τ = %v is not allowed; %v would be", at, exact)
		}
	}
	least := loss(exact)
	for k := range 200 {
		other, size := append([]float64(nil), exact...), math.Pow(10, -float64(k%5))
		for r := range other {
			other[r] += size * rng.NormFloat64()
		}
		feasible(other)
		if l := loss(other); l < least-1e-6*(1+math.Abs(least)) {
			t.Fatalf("τ = %v has %v, %v has %v", at, least, other, l)
		}
	}
}

// The quadratic programmes of PA, PA-I and PA-II, against the best of the other classes.
func TestPassiveAggressiveIsLeast(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	steps := 0
	for k := range 600 {
		s, e := draw(rng)
		c := math.Exp(2 * rng.NormFloat64())
		p := passiveAggressive{slack{c, k%3 == 1}}
		if k%3 == 2 {
			p.most = math.Inf(1)
		}
		tau := make([]float32, len(s))
		if !p.steps(tau, s, e) {
			for r, v := range s {
				if r != e.y && s[e.y]-v < 1 {
					t.Fatalf("no step for scores %v of class %d", s, e.y)
				}
			}
			continue
		}
		steps++
		rival := -1
		for r := range s {
			if r != e.y && (rival < 0 || s[r] > s[rival]) {
				rival = r
			}
		}
		// missed is what is missed of the margin after a step.
		missed := func(tau []float64) float64 {
			lead := float64(s[e.y]) - float64(s[rival]) + float64(e.norm2)*(tau[e.y]-tau[rival])
			return max(0, 1-lead)
		}
		loss := func(tau []float64) float64 {
			sum, xi := 0.0, missed(tau)
			for _, v := range tau {
				sum += v * v / 2 * float64(e.norm2)
			}
			switch {
			case p.squared:
				return sum + c*e.weight*xi*xi
			case math.IsInf(p.most, 1):
				return sum
			}
			return sum + c*e.weight*xi
		}
		isLeast(t, rng, tau, loss, func(tau []float64) {
			if math.IsInf(p.most, 1) { // a longer step, until nothing is missed
				tau[e.y] += missed(tau) / float64(e.norm2)
			}
		})
	}
	if steps < 300 {
		t.Errorf("%d steps were judged, wanted more", steps)
	}
}

// The quadratic programme of MIRA.
func TestMiraIsLeast(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	steps := 0
	for range 600 {
		s, e := draw(rng)
		e.weight = 1
		margin := rng.Float64()
		tau := make([]float32, len(s))
		if (&mira{margin: margin}).steps(tau, s, e) {
			steps++
		} else {
			clear(tau)
		}
		loss := func(tau []float64) (sum float64) {
			for r, v := range tau {
				sum += v*v/2*float64(e.norm2) + v*float64(s[r])
			}
			return sum - margin*float64(e.norm2)*tau[e.y]
		}
		isLeast(t, rng, tau, loss, func(tau []float64) {
			rest := 0.0
			for r, v := range tau {
				if r != e.y {
					tau[r] = min(0, v)
					rest -= tau[r]
				}
			}
			if rest > 1 {
				for r := range tau {
					tau[r] /= rest
				}
				rest = 1
			}
			tau[e.y] = rest
		})
	}
	if steps < 200 {
		t.Errorf("%d steps were judged, wanted more", steps)
	}
}

// The quadratic programme of COPA (equation 18).
func TestCopaIsLeast(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	steps := 0
	for range 600 {
		s, e := draw(rng)
		p := &copa{aggressiveness: math.Exp(2 * rng.NormFloat64())}
		p.begin(nil, len(s))
		tau := make([]float32, len(s))
		if p.steps(tau, s, e) {
			steps++
		}
		loss := func(tau []float64) (sum float64) {
			for r, v := range tau {
				sum += v * v / 2 * float64(e.norm2)
				if r != e.y {
					l := max(0, float64(s[r])+v*float64(e.norm2)+1/float64(len(s)-1))
					sum += p.aggressiveness * e.weight * e.weight / 2 * l * l
				}
			}
			return sum
		}
		isLeast(t, rng, tau, loss, func(tau []float64) {
			mean := 0.0
			for _, v := range tau {
				mean += v / float64(len(tau))
			}
			for r := range tau {
				tau[r] -= mean
			}
		})
	}
	if steps < 300 {
		t.Errorf("%d steps were judged, wanted more", steps)
	}
}
