package kernelpca

import (
	"math"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/mercer"
)

// Hundreds of landmarks in the plane under a wide kernel function nearly depend on each
// other; the axes of those that stay are the exact ones nevertheless.
func TestNearlyDependentLandmarks(t *testing.T) {
	x, _ := generated(1200, 2, 1)
	for _, gamma := range []float32{0.03, 0.3, 3} {
		o := Options{Function: mercer.Function{Kind: mercer.RBF, Gamma: gamma}, Components: 6}
		exact := fit(t, simd.New(), x, o)
		o.Landmarks = 700
		b := fit(t, simd.New(), x, o)
		if b.DroppedLandmarks < 300 {
			t.Errorf("gamma %v: %d landmarks dropped, want most", gamma, b.DroppedLandmarks)
		}
		if math.Abs(b.Variance/exact.Variance-1) > 1e-5 {
			t.Errorf("gamma %v: variance %v, exact %v", gamma, b.Variance, exact.Variance)
		}
		for i, want := range exact.Eigenvalues {
			if got := b.Eigenvalues[i]; math.Abs(got-want) > 1e-4*exact.Eigenvalues[0] {
				t.Errorf("gamma %v: eigenvalue %d is %v, exact %v", gamma, i, got, want)
			}
		}
	}
}
