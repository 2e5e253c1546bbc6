package online

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
)

// apart returns examples of length 1 that some W of Frobenius norm 1 tells apart by a margin of
// theta.
func apart(seed uint64, q int, theta float64) *learners.Problem {
	const n, d = 150, 8
	rng := rand.New(rand.NewPCG(seed, 5))
	unit := func(v []float64) {
		sum := 0.0
		for j := range v {
			v[j] = rng.NormFloat64()
			sum += v[j] * v[j]
		}
		for j := range v {
			v[j] /= math.Sqrt(sum)
		}
	}
	best, x := make([]float64, q*d), make([]float64, d)
	unit(best)
	p := &learners.Problem{Q: q, Engine: cpuref.New(), Seed: seed, X: dataset.Examples{D: d}}
	for p.X.N < n {
		unit(x)
		y, first, second := 0, math.Inf(-1), math.Inf(-1)
		for r := range q {
			s := 0.0
			for j, v := range x {
				s += v * best[r*d+j]
			}
			if s > first {
				y, first, second = r, s, first
			} else {
				second = max(second, s)
			}
		}
		if first-second < theta {
			continue
		}
		for _, v := range x {
			p.X.X = append(p.X.X, float32(v))
		}
		p.Y = append(p.Y, int32(y))
		p.X.N++
	}
	return p
}

// watcher is a policy that keeps account of what another does.
type watcher struct {
	policy
	updates, mistakes int
	own               float64 // Σ τ_y
}

func (w *watcher) steps(tau, s []float32, e *example) bool {
	added := w.policy.steps(tau, s, e)
	if added {
		w.updates++
		w.own += float64(tau[e.y])
		for r, v := range s {
			if r != e.y && v >= s[e.y] {
				w.mistakes++
				break
			}
		}
	}
	return added
}

// TestMistakeBounds: of examples of length at most R that are told apart by a margin θ,
// ultraconservative algorithms make at most 2R²/θ² updates (Crammer & Singer 2003, Theorem 3), the
// passive-aggressive ones as many mistakes (Crammer et al. 2006, Theorem 2: Σℓ² is at most that;
// PA-I at most max(2R², 1/C)/θ², its W being 1/θ long). A step of MIRA adds 2β·R²·τ_y to ‖W‖² at
// most, and brings W θ·τ_y nearer to a W of length 1: so Στ_y is at most 2β·R²/θ².
func TestMistakeBounds(t *testing.T) {
	for seed := range uint64(6) {
		q, theta := 2+int(seed)%4, 0.1+0.05*float64(seed%3)
		bound := 2 / (theta * theta)
		for name, c := range map[string]struct {
			policy
			count func(w *watcher) float64
			most  float64
		}{
			"max":          {errorSet{StepMax}, updates, bound},
			"uniform":      {errorSet{StepUniform}, updates, bound},
			"proportional": {errorSet{StepProportional}, updates, bound},
			"random":       {errorSet{StepRandom}, updates, bound},
			"pa":           {newPassive(Max, slack{most: math.Inf(1)}), mistakes, bound},
			"pa1":          {newPassive(Max, slack{most: 0.5}), mistakes, bound},
			"mira":         {&mira{margin: 0.1}, func(w *watcher) float64 { return w.own }, 0.1 * bound},
		} {
			w := &watcher{policy: c.policy}
			p := apart(seed, q, theta)
			l, err := anyMember(w, false, false).Definition().Start(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			weights := engine.NewWeights(q, p.X.D)
			passes := 0
			for step := (learners.Step{}); !step.Done && passes < 40 && err == nil; passes++ {
				step, err = l.Step(t.Context(), weights)
			}
			if got := c.count(w); err != nil || got == 0 || got > c.most*(1+1e-5) {
				t.Errorf("%s, %d classes, margin %v: %v in %d passes (%v), wanted at most %v", name, q, theta,
					got, passes, err, c.most)
			}
		}
	}
}

func updates(w *watcher) float64  { return float64(w.updates) }
func mistakes(w *watcher) float64 { return float64(w.mistakes) }
