package simd

import (
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/engine/enginetest"
	"github.com/uma-gpu/uma-gpu/internal/sketch"
)

// question is what kernel open is asked, for mutants to change.
type question struct {
	alpha                      float32
	rho, nu, slack, eta, theta []float32
	scored                     []int32
	now                        int32
	place                      []int32
}

// mutants are ways to break bounds. Each must turn the conformance suite red: a
// guard that nothing trips is no guard.
var mutants = []struct {
	name   string
	ask    func(q *question)   // changes what open is asked, if not nil
	answer func(open []uint16) // changes what it answers, if not nil
}{
	{name: "what the sketch leaves ignored", ask: func(q *question) {
		q.eta = make([]float32, len(q.eta))
	}},
	{name: "the error of the sketch ignored", ask: func(q *question) {
		q.theta = make([]float32, len(q.theta))
	}},
	{name: "rounding ignored", ask: func(q *question) { q.slack = make([]float32, len(q.slack)) }},
	{name: "examples taken for short", ask: func(q *question) { q.nu = make([]float32, len(q.nu)) }},
	{name: "examples taken for what the sketch says", ask: func(q *question) {
		q.rho = make([]float32, len(q.rho))
	}},
	{name: "only the last change counts", ask: func(q *question) {
		n := int32(len(q.slack))
		span := int32(len(q.eta)) / n
		last := (q.now/n + span - 1) % span * n
		q.scored = slices.Clone(q.scored)
		for i, s := range q.scored {
			if s != q.now {
				q.scored[i] = last
			}
		}
	}},
	{name: "rounds too old", ask: func(q *question) { q.now = -1 }},
	{name: "margin ignored", ask: func(q *question) { q.alpha = 0 }},
	{name: "nobody outside", ask: func(q *question) {
		q.place = slices.Clone(q.place)
		for i := range q.place {
			q.place[i] |= 1
		}
	}},
	{name: "first lane never open", answer: func(open []uint16) {
		for b := range open {
			open[b] &^= 1
		}
	}},
	{name: "last block never open", answer: func(open []uint16) { open[len(open)-1] = 0 }},
}

func TestMutantsAreCaught(t *testing.T) {
	levels := available()
	k := levels[len(levels)-1] // TestOpen compares them all
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			broken := *k
			broken.bounds.open = func(scores []float32, q int, alpha float32, rho, nu, slack, eta,
				theta []float32, scored []int32, now int32, place []int32, open []uint16) {
				a := question{alpha, rho, nu, slack, eta, theta, scored, now, place}
				if m.ask != nil {
					m.ask(&a)
				}
				k.bounds.open(scores, q, a.alpha, a.rho, a.nu, a.slack, a.eta, a.theta, a.scored, a.now,
					a.place, open)
				if m.answer != nil {
					m.answer(open)
				}
			}
			e := newProcessor(&broken, sketch.AtOnce)
			for _, c := range enginetest.WalkCases() {
				if err := c.Check(e); err != nil {
					t.Logf("caught by %s: %v", c.Name, err)
					return
				}
			}
			t.Errorf("the conformance suite does not notice this broken engine")
		})
	}
}
