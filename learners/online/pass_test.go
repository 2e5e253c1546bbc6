package online

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/learners"
)

// anyMember returns the parameters of a learner of any policy.
func anyMember(c policy, noShuffle, noAverage bool) *Params {
	a := &algorithm{name: "any", defaults: Params{ClassWeights: learners.Equal},
		policy: func(*Params) policy { return c }}
	p := a.params()
	p.NoShuffle, p.NoAverage = noShuffle, noAverage
	return p
}

// begun begins a run of each policy on p.
func begun(t *testing.T, p *learners.Problem, policies ...policy) (all []learners.Learner,
	w []engine.Weights) {
	t.Helper()
	for k, c := range policies {
		l, err := start(p, anyMember(c, k%3 == 2, k%2 == 1))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		all, w = append(all, l), append(w, engine.NewWeights(p.Q, p.X.D))
	}
	return all, w
}

// Runs that step together leave the weights, the states and the reports that each leaves alone,
// also with random numbers, and in another order.
func TestStepAll(t *testing.T) {
	p := apart(3, 4, 0.1)
	policies := func() []policy {
		return []policy{errorSet{StepRandom}, &copa{aggressiveness: 1}, newPassive(All,
			slack{most: 0.5}), errorSet{StepMax}, &mira{margin: 0.1}}
	}
	together, got := begun(t, p, policies()...)
	alone, want := begun(t, p, policies()...)
	for range 3 {
		steps, err := stepAll(t.Context(), together, got)
		if err != nil {
			t.Fatal(err)
		}
		for k, l := range alone {
			step, err := l.Step(t.Context(), want[k])
			saved, _ := l.Save()
			savedTogether, _ := together[k].Save()
			if err != nil || !slices.Equal(got[k].W, want[k].W) || !slices.Equal(saved, savedTogether) ||
				step.Done != steps[k].Done || !slices.Equal(step.Fields, steps[k].Fields) {
				t.Errorf("run %d: found %+v, alone %+v, %v; or other weights", k, steps[k], step, err)
			}
		}
	}
}

// Passes over dense examples in one order are one stack, and no others: the first run draws random
// numbers, and so has another order in the second pass than the last one.
func TestStacks(t *testing.T) {
	p := apart(3, 4, 0.1)
	for _, c := range []struct {
		problem *learners.Problem
		want    [][]int // sizes of stacks in each pass
	}{
		{p, [][]int{{2, 2, 1}, {1, 2, 1, 1}}}, {p.On(p.X.Compressed(), p.Y), [][]int{{1, 1, 1, 1, 1},
			{1, 1, 1, 1, 1}}},
	} {
		all, w := begun(t, c.problem, errorSet{StepRandom}, errorSet{StepMax}, errorSet{StepMax},
			errorSet{StepUniform}, errorSet{StepMax})
		for number, want := range c.want {
			var passes []*pass
			var sizes []int
			for k, l := range all {
				one, err := l.(*learner).begin(w[k])
				if err != nil {
					t.Fatal(err)
				}
				passes = append(passes, one)
			}
			for _, s := range stacks(passes) {
				sizes = append(sizes, len(s.passes))
			}
			if !slices.Equal(sizes, want) {
				t.Errorf("pass %d: found stacks of %v passes, wanted %v", number+1, sizes, want)
			}
			if _, err := stepAll(t.Context(), all, w); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct{ passes, q, d, want int }{
		{20, 10, 785, 8}, {4, 10, 785, 3}, {1, 10, 785, 1}, {20, 16, 100, 20}, {9, 3, 50, 5}, {20, 100,
			5000, 1},
	} {
		if n := fullest(c.passes, c.q, c.d); n != c.want {
			t.Errorf("%+v: found %d passes in a stack", c, n)
		}
	}
}

// A cancelled step leaves all runs where they were, and strangers are refused.
func TestStepAllRefuses(t *testing.T) {
	p := apart(3, 4, 0.1)
	all, w := begun(t, p, errorSet{StepMax}, errorSet{StepUniform})
	before, _ := all[1].Save()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := stepAll(ctx, all, w)
	after, _ := all[1].Save()
	if !errors.Is(err, context.Canceled) || !slices.Equal(before, after) || slices.Max(w[1].W) != 0 {
		t.Errorf("cancelled: found %v, or another state", err)
	}
	few := apart(3, 4, 0.1)
	few.X, few.Y = few.X.Part(0, 9), few.Y[:9]
	other, _ := begun(t, few, errorSet{StepMax})
	for fragment, l := range map[string]learners.Learner{
		"150 9 examples": other[0], "family": nil,
	} {
		_, err := stepAll(t.Context(), []learners.Learner{all[0], l}, w)
		if !facts.Told(err, fragment) {
			t.Errorf("found %v, wanted %s", err, fragment)
		}
	}
}

// The mean of a corrected step over the labels that C gives an example is the step for its right
// label.
func TestCorrectedStepsAreRightOnAverage(t *testing.T) {
	const q = 3
	noise := [q][q]float64{{0.6, 0, 0.3}, {0.4, 0.8, 0}, {0, 0.2, 0.7}} // row: the label
	inverse := []float64{0.56, 0.06, -0.24, -0.28, 0.42, 0.12, 0.08, -0.12, 0.48}
	det := noise[0][0]*inverse[0] + noise[0][2]*inverse[6]
	for i := range inverse {
		inverse[i] /= det
	}
	weights, s := []float64{1, 2, 3}, []float32{0.3, -0.2, 0.7}
	for name, policy := range map[string]policy{
		"copa": &copa{aggressiveness: 0.5}, "perceptron": errorSet{StepMax}, "pa1": newPassive(All,
			slack{most: 0.5}),
	} {
		c := &correctedPolicy{policy: policy, most: math.Inf(1), weights: weights, inverse: inverse}
		for right := range q {
			mean, tau, want := [q]float64{}, make([]float32, q), make([]float32, q)
			for y := range q {
				clear(tau)
				c.steps(tau, s, &example{y: y, norm2: 0.9, weight: 1})
				for r, v := range tau {
					mean[r] += noise[y][right] * float64(v)
				}
			}
			policy.steps(want, s, &example{y: right, norm2: 0.9, weight: weights[right]})
			for r, v := range want {
				if d := mean[r] - float64(v); d > 1e-6 || d < -1e-6 {
					t.Errorf("%s: class %d of label %d: mean step %v, wanted %v", name, r, right, mean[r], v)
				}
			}
		}
	}
}
