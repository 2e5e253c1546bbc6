package enginetest_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/enginetest"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// mutants are ways to get an evaluation wrong, each with what the name of a case that must
// notice starts with, after "evaluate: ".
var mutants = []struct {
	name, by string
	change   func(*loops)
}{
	{"blocks of 255 examples", "n (n=256 ", func(l *loops) { l.block = 255 }},
	{"blocks of 512 examples", "n (n=257 ", func(l *loops) { l.block = 512 }},
	{"no blocks", "n (n=511 ", func(l *loops) { l.block = math.MaxInt32 }},
	{"each product made whole", "n (n=15 ", func(l *loops) { l.block = 1 }},
	{"examples in decreasing order", "n (n=16 ", func(l *loops) {
		l.order = func(i, from, to int) int {
			return to - 1 - (i - from)
		}
	}},
	{"examples in two chains", "n (n=17 ", func(l *loops) {
		l.order = func(i, from, to int) int { // even ones first
			if k, even := i-from, (to-from+1)/2; k < even {
				return from + 2*k
			} else {
				return from + 2*(k-even) + 1
			}
		}
	}},
	{"products rounded before they are added", "n (n=15 ", func(l *loops) {
		l.multiply = func(a, x, acc float32) float32 { return float32(a*x) + acc }
	}},
	{"sums rounded twice", "rounding", func(l *loops) {
		l.multiply = func(a, x, acc float32) float32 {
			return float32(float64(a)*float64(x) + float64(acc))
		}
	}},
	{"subnormal values taken for 0", "subnormal values", func(l *loops) { l.value = flush }},
	{"subnormal sums taken for 0", "subnormal values", func(l *loops) {
		l.multiply = func(a, x, acc float32) float32 { return flush(numerics.FMA(a, x, acc)) }
	}},
	{"rounding towards 0", "rounding", func(l *loops) { l.whole = rounded(math.Trunc) }},
	{"ties away from 0", "rounding", func(l *loops) { l.whole = rounded(math.Round) }},
	{"rounding down", "rounding", func(l *loops) { l.whole = rounded(math.Floor) }},
	{"sums added to what was there", "n (n=1 ",
		func(l *loops) { l.sums = func(dst int64) int64 { return dst } }},
	{"coefficients by sum instead of by example", "many sums", func(l *loops) {
		l.coefficient = func(a []float32, i, r, n, count int) float32 { return a[r*n+i] }
	}},
	{"the last example left out", "n (n=15 ", func(l *loops) {
		l.coefficient = func(a []float32, i, r, n, count int) float32 {
			if i == n-1 {
				return 0
			}
			return a[i*count+r]
		}
	}},
	{"sums beyond 32 left out", "many sums", func(l *loops) {
		l.coefficient = func(a []float32, i, r, n, count int) float32 {
			if r >= 32 {
				return 0
			}
			return a[i*count+r]
		}
	}},
	{"scores without chunks", "d (n=20 d=259 ", func(l *loops) {
		l.dot = func(x, w []float32) (acc float32) {
			for j := range x {
				acc = numerics.FMA(x[j], w[j], acc)
			}
			return acc
		}
	}},
	{"scores of the weights before", "n (n=1 ", func(l *loops) {
		var before engine.Weights
		l.scored = func(r engine.LoadedEvaluator, w engine.Weights) error {
			old := before
			if before = w.Clone(); old.Q != w.Q || old.D != w.D {
				return nil
			}
			return r.Rescore(old, []int{0})
		}
	}},
	{"scores lost in weighted sums", "n (n=1 ", func(l *loops) {
		var w engine.Weights
		l.scored = func(_ engine.LoadedEvaluator, now engine.Weights) error {
			w = engine.NewWeights(now.Q, now.D)
			return nil
		}
		l.summed = func(r engine.LoadedEvaluator) error {
			return r.Rescore(w, []int{0})
		}
	}},
	{"another exp", "n (n=1 ",
		func(l *loops) { l.exp = func(x float32) float32 { return float32(math.Exp(float64(x))) } }},
	{"another log", "n (n=1 ",
		func(l *loops) { l.log = func(x float32) float32 { return float32(math.Log(float64(x))) } }},
	{"division in place of the reciprocal", "n (n=1 ", func(l *loops) {
		l.share = func(e, sum float32) float32 {
			return e / sum
		}
	}},
	{"a true reciprocal", "rounding", func(l *loops) {
		l.share = func(e, sum float32) float32 {
			return float32(e * (1 / sum))
		}
	}},
	{"classes added in decreasing order", "Q (n=33 d=3 Q=17)", func(l *loops) {
		sum := l.sum
		l.sum = func(e []float32) float32 {
			e = slices.Clone(e)
			slices.Reverse(e)
			return sum(e)
		}
	}},
	{"probabilities summed in float64", "Q (n=33 d=3 Q=200)", func(l *loops) {
		l.sum = func(e []float32) float32 {
			sum := 0.0
			for _, v := range e {
				sum += float64(v)
			}
			return float32(sum)
		}
	}},
	{"what is impossible taken for certain", "n (n=255 ", func(l *loops) {
		l.likelihood = func(score, t float32) float32 {
			if math.IsInf(float64(t), -1) {
				return score
			}
			return score + t
		}
	}},
	{"what is impossible taken for unlikely", "n (n=255 ", func(l *loops) {
		l.likelihood = func(score, t float32) float32 { return score + max(t, -20) }
	}},
	{"the largest scores left out of the loss", "scores far apart", func(l *loops) {
		l.posterior = func(m, m2, l, l2 float32) float32 { return l - l2 }
	}},
	{"the loss added in another order", "scores far apart", func(l *loops) {
		l.posterior = func(m, m2, l, l2 float32) float32 { return float32(m+l) - float32(m2+l2) }
	}},
	{"the loss of given targets rounded twice", "Q (n=33 d=3 Q=3)", func(l *loops) {
		l.given = func(t, d, acc float32) float32 { return acc - float32(t*d) }
	}},
	{"residuals without weights", "Q (n=33 d=3 Q=2)", func(l *loops) {
		l.weigh = func(v, _ float32) float32 {
			return v
		}
	}},
	{"losses without weights", "Q (n=33 d=3 Q=2)", func(l *loops) {
		l.weighLoss = func(v, _ float32) float32 {
			return v
		}
	}},
	{"weights of 0 taken for 1", "Q (n=33 d=3 Q=2)", func(l *loops) {
		weigh := l.weigh
		l.weigh = func(v, weight float32) float32 {
			if weight == 0 {
				weight = 1
			}
			return weigh(v, weight)
		}
	}},
	{"subnormal weights taken for 0", "Q (n=33 d=3 Q=2)", func(l *loops) {
		l.weighLoss = func(v, weight float32) float32 { return float32(v * flush(weight)) }
	}},
	{"refused examples not counted", "limits of losses", func(l *loops) {
		l.whenRefused = func(_ *engine.Evaluation, a []float32, _ float32) { clear(a) }
	}},
	{"losses of refused examples counted", "limits of losses", func(l *loops) {
		l.whenRefused = func(v *engine.Evaluation, a []float32, loss float32) {
			clear(a)
			v.Refused++
			if math.Abs(float64(loss)) < 0x1p30 {
				v.Loss += int64(loss)
			}
		}
	}},
	{"residuals of refused examples counted", "limits of losses", func(l *loops) {
		l.whenRefused = func(v *engine.Evaluation, a []float32, loss float32) {
			v.Refused++
			for k := range a {
				if !(a[k] >= -1 && a[k] <= 1) {
					a[k] = 0
				}
			}
		}
	}},
	{"a loss of 2^15 counted", "limits of losses", refusing(func(loss, _ float32) bool {
		return !(loss >= -0x1p15 && loss <= 0x1p15)
	})},
	{"losses below 0 never refused", "limits of losses", refusing(func(loss, _ float32) bool {
		return !(loss < 0x1p15)
	})},
	{"losses refused before they are weighted", "limits of losses",
		refusing(func(loss, weight float32) bool {
			return !(loss > -0x1p15 && loss < 0x1p15) || weight > 0 &&
				math.Abs(float64(loss/weight)) >= 0x1p15
		})},
	{"examples of weight 0 never refused", "limits of losses", func(l *loops) {
		refuse := l.refuse
		l.refuse = func(scores []float32, loss, weight float32) bool {
			return weight != 0 && refuse(scores, loss, weight)
		}
	}},
	{"infinite scores below 0 not refused", "limits of losses", func(l *loops) {
		l.refuse = func(scores []float32, loss, _ float32) bool {
			for _, s := range scores {
				if s != s || s > math.MaxFloat32 {
					return true
				}
			}
			return !(loss > -0x1p15 && loss < 0x1p15)
		}
	}},
	{"targets of the first aim kept", "targets that change", func(l *loops) {
		l.targets = func(before, now engine.Targets) engine.Targets {
			if before.Values == nil {
				return now
			}
			return before
		}
	}},
	{"weights of an earlier aim kept", "targets that change", func(l *loops) {
		l.targets = func(before, now engine.Targets) engine.Targets {
			if now.Weight == nil {
				now.Weight = before.Weight
			}
			return now
		}
	}},
	{"values remembered where their memory is the same", "targets that change", func(l *loops) {
		l.targets = func(before, now engine.Targets) engine.Targets {
			if at := &now.Values[0]; before.Values != nil && known == at {
				now.Values = before.Values
			} else {
				known = at
				now.Values = slices.Clone(now.Values)
			}
			return now
		}
	}},
	{"given targets taken for logarithms", "targets that change", func(l *loops) {
		l.targets = func(_, now engine.Targets) engine.Targets {
			now.Given = false
			return now
		}
	}},
	{"losses in the format of the examples here", "parts", func(l *loops) {
		l.losses = func(_ numerics.FixedPoint, n int) numerics.FixedPoint {
			return numerics.LossFormat(n)
		}
	}},
	{"losses in the format of the sums", "n (n=1 ", func(l *loops) {
		l.losses = func(f numerics.FixedPoint, _ int) numerics.FixedPoint { return f }
	}},
}

// known is the memory of the values that a mutant remembers.
var known *float32

func flush(v float32) float32 {
	if math.Abs(float64(v)) < 0x1p-126 {
		return 0
	}
	return v
}

func rounded(round func(float64) float64) func(float32, numerics.FixedPoint) int64 {
	return func(acc float32, f numerics.FixedPoint) int64 {
		return int64(round(math.Ldexp(float64(acc), f.S)))
	}
}

func refusing(refuse func(loss, weight float32) bool) func(*loops) {
	return func(l *loops) {
		l.refuse = func(scores []float32, loss, weight float32) bool {
			for _, s := range scores {
				if s-s != 0 {
					return true
				}
			}
			return refuse(loss, weight)
		}
	}
}

func TestMutantsAreCaught(t *testing.T) {
	cases := enginetest.EvaluationCases()
	for _, c := range cases {
		if err := c.Check(engine.New(looped{cpuref.Driver{}, plainLoops()})); err != nil {
			t.Errorf("%s: the loops that are to be broken are already: %v", c.Name, err)
		}
	}
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			l := plainLoops()
			m.change(&l)
			for _, c := range cases {
				if !strings.HasPrefix(c.Name, "evaluate: "+m.by) {
					continue
				}
				if err := c.Check(engine.New(looped{cpuref.Driver{}, l})); err != nil {
					t.Logf("caught by %s: %v", c.Name, err)
					return
				}
			}
			t.Errorf("no case of %q notices this broken engine", m.by)
		})
	}
}
