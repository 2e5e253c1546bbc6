package online

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
)

// BenchmarkPass measures a pass over examples of Fashion-MNIST's width, in shuffled order; GF/s
// count only the scores.
func BenchmarkPass(b *testing.B) {
	const n, d, q = 20000, 784, 10
	rng := rand.New(rand.NewPCG(1, 2))
	p := &learners.Problem{Q: q, Engine: cpuref.New(), X: dataset.Examples{N: n, D: d,
		X: make([]float32, n*d)}}
	for i := range p.X.X {
		p.X.X[i] = rng.Float32() / 28
	}
	for i := range n {
		y := rng.IntN(q)
		p.Y = append(p.Y, int32(y))
		for j := range d / 20 {
			p.X.Row(i)[y*20+j%20] += 0.002
		}
	}
	for name, c := range map[string]policy{
		"perceptron": errorSet{StepMax}, "pa1": newPassive(Max, slack{most: 0.1}),
		"copa":    &copa{aggressiveness: 0.1},
		"pa1 ovr": newPassive(OVR, slack{most: 0.1}), "perceptron ovr": perceptrons{},
	} {
		b.Run(name, func(b *testing.B) {
			params := anyMember(c, false, false)
			params.ClassWeights = learners.Balanced
			l, err := params.Definition().Start(b.Context(), p)
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			w := engine.NewWeights(q, d)
			best := time.Duration(1 << 62)
			updates := 0
			for b.Loop() {
				begun := time.Now()
				s, err := l.Step(b.Context(), w)
				if err != nil || s.Done {
					b.Fatal(s, err)
				}
				best = min(best, time.Since(begun))
				updates = s.Fields[1].Value.(int)
			}
			b.ReportMetric(best.Seconds()*1e3, "ms-best")
			b.ReportMetric(2*n*d*q/best.Seconds()/1e9, "GF/s")
			b.ReportMetric(float64(updates)/n, "updates/example")
		})
	}
}
