package main

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestTLogistic: probabilities of both classes sum to 1, and no weights near those found, nor any
// others drawn, have a lower loss, computed as the paper defines it: by exp_t and a normalization
// found by bisection.
func TestTLogistic(t *testing.T) {
	expT := func(x float64) float64 { return 1 / (1 - x) }
	probability := func(u float64) float64 {
		low, high := 0.0, 2+math.Abs(u) // the normalization
		for range 200 {
			g := (low + high) / 2
			if u/2-g < 1 && -u/2-g < 1 && expT(u/2-g)+expT(-u/2-g) < 1 {
				high = g
			} else {
				low = g
			}
		}
		return expT(u/2 - high)
	}
	for _, u := range []float64{-30, -2, 0, 0.1, 5, 300} {
		if got, want := 1/height(u, math.Sqrt(1+u*u/4)), probability(u); math.Abs(got-want) > 1e-9*want {
			t.Errorf("P at %v is %v, wanted %v", u, got, want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	const n, d = 60, 4
	l := &tLogistic{n: n, d: d, lambda: 0.01}
	for range n {
		l.counts = append(l.counts, float64(1+rng.IntN(3)))
		for j := range d {
			l.x = append(l.x, rng.NormFloat64()+float64(1-min(j, 1)))
		}
	}
	loss := func(w []float64) float64 {
		sum, total := 0.0, 0.0
		for i, c := range l.counts {
			sum -= c * math.Log(probability(inner(w, l.x[i*d:(i+1)*d])))
			total += c
		}
		return sum/total + l.lambda/2*inner(w, w)
	}
	w := l.minimum(make([]float64, d))
	least := loss(w)
	if got := l.loss(w); math.Abs(got-least) > 1e-6 {
		t.Errorf("loss %v, wanted %v", got, least)
	}
	for k := range 600 {
		near := append([]float64(nil), w...)
		for j := range near {
			near[j] += []float64{1e-4, 1e-2, 1}[k%3] * rng.NormFloat64()
		}
		if v := loss(near); v < least-1e-11 {
			t.Fatalf("%v has the loss %v, %v has %v", w, least, near, v)
		}
	}
}

// TestTLogisticOfThree: of the three points no weights drawn have a lower loss than those found.
func TestTLogisticOfThree(t *testing.T) {
	p := newThreePoints(800, 1, 1)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, rate := range noiseRates[1:] {
		l := p.tLogistic(p.turned(rate, 1).Y)
		w := l.least(starts())
		least := l.loss(w)
		for range 3000 {
			size := math.Pow(10, 4*rng.Float64()-1)
			near := []float64{size * rng.NormFloat64(), size * rng.NormFloat64()}
			if v := l.loss(near); v < least-1e-6 {
				t.Fatalf("noise %v: %v has the loss %v, %v has %v", rate, w, least, near, v)
			}
		}
	}
}
