package means_test

import (
	"math"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/means"
)

// TestImmunity: of the convex losses only the linear one is immune, and what is said of a loss is
// what noise does to the sign of the score that minimizes it.
func TestImmunity(t *testing.T) {
	immune := map[string]bool{"linear": true, "0-1": true, "ramp": true, "sigmoid": true}
	for _, l := range means.Losses {
		found := l.Immunity()
		if found.Immune != immune[l.Name] || found.Immune != (found.Most-found.Least < 1e-9) {
			t.Errorf("%s: %+v, wanted immune: %v", l.Name, found, immune[l.Name])
		}
		if found.Convex && found.Immune && l.Name != "linear" {
			t.Errorf("%s is convex and immune, which the linear loss alone is", l.Name)
		}
		// With labels flipped at rate s, (1-2s)·loss + s·S is the expected loss.
		const s = 0.3
		for _, v := range []float64{-3, -0.5, 0.25, 2} {
			noisy := (1-s)*l.Of(v) + s*l.Of(-v)
			if split := (1-2*s)*l.Of(v) + s*(l.Of(v)+l.Of(-v)); math.Abs(noisy-split) > 1e-12 {
				t.Errorf("%s at %v: %v, %v", l.Name, v, noisy, split)
			}
		}
	}
	byName := map[string]means.Immunity{}
	for _, l := range means.Losses {
		byName[l.Name] = l.Immunity()
	}
	if h := byName["hinge"]; h.Constant != 1 || h.Least != 2 || h.Most != 5 || !h.Convex {
		t.Errorf("hinge: %+v, wanted 2 up to scores of 1, then up to 5, and convex", h)
	}
	if tl := byName["t-logistic, t = 2"]; tl.Convex || tl.Constant != 0 ||
		math.Abs(tl.Least-math.Log(4)) > 1e-12 {
		t.Errorf("t-logistic: %+v", tl)
	}
}

// TestSymmetricProbabilities: those of the t-logistic loss sum to 1.
func TestSymmetricProbabilities(t *testing.T) {
	for _, l := range means.Losses {
		if l.Name != "t-logistic, t = 2" && l.Name != "logistic" {
			continue
		}
		for _, v := range []float64{0, 0.5, 3, 20} {
			if p := math.Exp(-l.Of(v)) + math.Exp(-l.Of(-v)); math.Abs(p-1) > 1e-12 {
				t.Errorf("%s at %v: probabilities sum to %v", l.Name, v, p)
			}
		}
	}
}
