package online

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/engine"
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

// A cancelled step leaves the run where it was.
func TestCancelledStep(t *testing.T) {
	p := apart(3, 4, 0.1)
	l, err := anyMember(errorSet{StepUniform}, false, true).Definition().Start(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	w := engine.NewWeights(p.Q, p.X.D)
	before, _ := l.Save()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = l.Step(ctx, w)
	after, _ := l.Save()
	if !errors.Is(err, context.Canceled) || !slices.Equal(before, after) || slices.Max(w.W) != 0 {
		t.Errorf("cancelled: found %v, or another state", err)
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
		"copa": &copa{aggressiveness: 0.5}, "perceptron": errorSet{StepMax}, "pa1": newPassive(Max,
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
