package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// TestLeastHinge: no other weights have a lower loss than the corners found, of clean labels and
// of noisy ones.
func TestLeastHinge(t *testing.T) {
	p := newThreePoints(200, 1, 1)
	rng := rand.New(rand.NewPCG(1, 1))
	for _, rate := range noiseRates {
		noisy := p.turned(rate, 1)
		loss := func(w [2]float64) float64 {
			sum := 0.0
			for i, y := range noisy.Y {
				m := w[0]*float64(p.Row(i)[0]) + w[1]*float64(p.Row(i)[1])
				sum += max(0, 1-float64(2*y-1)*m)
			}
			return sum
		}
		w := p.leastHinge(noisy.Y)
		least := loss(w)
		for range 2000 {
			scale := math.Exp(6 * (rng.Float64() - 0.6))
			near := [2]float64{w[0] + scale*rng.NormFloat64(), w[1] + scale*rng.NormFloat64()}
			if v := loss(near); v < least-1e-3 {
				t.Fatalf("noise %v: %v has the loss %v, %v has %v", rate, w, least, near, v)
			}
		}
	}
}

// TestKernelMean: the mean makes no error under noise that has the hinge loss err, and spots take
// 16 atoms.
func TestKernelMean(t *testing.T) {
	e := open(t, simd.New())
	found := map[string]Row{}
	emit := func(row Row) error {
		if row.Data == "long-servedio" && row.X == 0.3 || row.X == 16 {
			found[row.Learner+" "+row.Measure] = row
		}
		return nil
	}
	for _, d := range []*experiment{kernelMean, kernelMeanAtoms} {
		if err := perform(t.Context(), d, options{Engine: e, Runs: 2, Seed: 1}, emit); err != nil {
			t.Fatal(err)
		}
	}
	for name, most := range map[string]float64{"linear mean error_rate": 0, "t-logistic error_rate": 1,
		"clusters error_rate": 0, "clusters distance": 0.1, "hinge error_rate": 1,
		"uniform error_rate": 1, "uniform distance": 1} {
		row, ok := found[name]
		if !ok || row.Mean > most || most == 1 && row.Mean < 0.05 {
			t.Errorf("%s: %+v", name, row)
		}
	}
}

// TestTwoClasses: of many labels turned round, all ways learn two classes that lie apart, and
// hinge and t-logistic loss choose a penalty that serves.
func TestTwoClasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	d := &dataset.Dataset{Examples: dataset.Examples{N: 300, D: 3}, Classes: []string{"a", "b", "c"}}
	for i := range d.N {
		d.Y = append(d.Y, int32(i%3))
		side := float32(min(1, i%3))*4 - 2
		for range d.D {
			d.X = append(d.X, side+float32(rng.NormFloat64()))
		}
	}
	r := &run{options: options{Engine: simd.New()}}
	if err := r.twoClasses(t.Context(), halves(d), Row{X: 0.3}, 1); err != nil {
		t.Fatal(err)
	}
	if len(r.rows) != 5 {
		t.Errorf("found %d ways, wanted 5", len(r.rows))
	}
	for _, row := range r.rows {
		if len(row.Runs) != 1 || row.Runs[0] > 0.05 {
			t.Errorf("%s errs on %v, wanted 0.05 at most", row.Learner, row.Runs)
		}
	}
}
