package online_test

import (
	"math"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/online"
)

// noisy gives p labels that are wrong by C, and C⁻¹ as float32 has it.
func noisy(t *testing.T, p *learners.Problem, rate float64) (inverse []float64) {
	t.Helper()
	var err error
	if p.Noise, err = confusion.Pairwise([]string{"a", "b", "c", "d"}[:p.Q], rate); err != nil {
		t.Fatal(err)
	}
	if p.Y, err = p.Noise.Inject(p.Y, 5); err != nil {
		t.Fatal(err)
	}
	of, err := p.Noise.Invert()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range of.Float32() {
		inverse = append(inverse, float64(v))
	}
	return inverse
}

// A corrected step is the sum of those for all labels, as C⁻¹ has them; COPA's worth of a class is
// by how many examples it has but for the noise. No label's step moves a score by more than 0.1.
func TestCorrectedSteps(t *testing.T) {
	const q, c = 4, 0.3
	p := clouds(100, 300, q)
	inverse := noisy(t, p, 0.3)
	counts, worth := make([]float64, q), make([]float64, q)
	labels := make([]float64, q)
	for _, y := range p.Y {
		labels[y]++
	}
	for k := range counts {
		for y, count := range labels {
			counts[k] += inverse[k*q+y] * count
		}
	}
	for k, count := range counts {
		factor := float64(len(p.Y)) / (q * count)
		worth[k] = c * factor * factor
	}
	of := centred(worth)
	judge(t, p, func(last bool) learners.Params {
		return inOrderOf("copa", last, func(p *online.Params) {
			p.Correction, p.Aggressiveness = online.CorrectSteps, c
		})
	}, func() tauOf {
		return func(s []float64, y int, norm2 float64) []float64 {
			sum := make([]float64, q)
			for label := range q {
				tau, b, moved := of(s, label, norm2), inverse[label*q+y], 0.0
				for _, v := range tau {
					moved = max(moved, math.Abs(float64(float32(v)))*norm2)
				}
				if moved > 0.1 {
					b *= 0.1 / moved
				}
				for r, v := range tau {
					sum[r] += b * float64(float32(v))
				}
			}
			return sum
		}
	})
}
