package kernel_test

import (
	"math"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/internal/facts"
)

func TestCheck(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct {
		f    kernel.Function
		want string // "" is none
	}{
		{kernel.Function{Kind: "linear"}, ""},
		{kernel.Function{Kind: "linear", Gamma: -1, Degree: -3}, ""}, // not of its formula
		{kernel.Function{Kind: "poly", Gamma: 0.5, Degree: 1}, ""},
		{kernel.Function{Kind: "poly", Gamma: 0.5, Coef0: -1, Degree: 255}, ""},
		{kernel.Function{Kind: "rbf", Gamma: 0x1p-149}, ""},
		{kernel.Function{}, `""`},
		{kernel.Function{Kind: "RBF", Gamma: 1}, `"RBF"`},
		{kernel.Function{Kind: "rbf"}, "gamma 0"},
		{kernel.Function{Kind: "rbf", Gamma: -1}, "gamma -1"},
		{kernel.Function{Kind: "rbf", Gamma: inf}, "gamma +Inf"},
		{kernel.Function{Kind: "poly", Gamma: nan, Degree: 2}, "gamma NaN"},
		{kernel.Function{Kind: "poly", Gamma: 1}, "degree 0"},
		{kernel.Function{Kind: "poly", Gamma: 1, Degree: 256}, "degree 256"},
		{kernel.Function{Kind: "poly", Gamma: 1, Degree: 2, Coef0: inf}, "coef0 +Inf"},
		{kernel.Function{Kind: "poly", Gamma: 1, Degree: 2, Coef0: nan}, "coef0 NaN"},
	} {
		err := c.f.Check()
		if c.want == "" && err != nil || c.want != "" && !facts.Told(err, c.want) {
			t.Errorf("%+v: %v, want %q", c.f, err, c.want)
		}
	}
}

// The formulas, against float64.
func TestValue(t *testing.T) {
	const dot, xx, yy = 0.5, 2, 1.25 // ‖x-y‖² = 2.25
	for _, c := range []struct {
		f    kernel.Function
		want float64
	}{
		{kernel.Function{Kind: "linear"}, dot},
		{kernel.Function{Kind: "poly", Gamma: 0.5, Coef0: 1, Degree: 3}, 1.25 * 1.25 * 1.25},
		{kernel.Function{Kind: "poly", Gamma: 4, Coef0: -5, Degree: 1}, -3},
		{kernel.Function{Kind: "rbf", Gamma: 0.3}, math.Exp(-0.3 * 2.25)},
	} {
		if got := float64(c.f.Value(dot, xx, yy)); math.Abs(got-c.want) > 1e-7*math.Abs(c.want) {
			t.Errorf("%+v: %v, want %v", c.f, got, c.want)
		}
	}
}

// A squared distance that rounding makes negative is 0; one that is no number stays none.
func TestDistanceAtItsEnds(t *testing.T) {
	inf := float32(math.Inf(1))
	f := kernel.Function{Kind: "rbf", Gamma: 2}
	for _, c := range []struct{ dot, xx, yy, want float32 }{
		{1.0000001, 1, 1, 1}, {1, 1, 1, 1}, {-inf, 1, 1, 0}, {0, inf, 1, 0}, {inf, 1, 1, 1}, {50, 100,
			100, 0},
	} {
		if got := f.Value(c.dot, c.xx, c.yy); got != c.want {
			t.Errorf("%+v: %v, want %v", c, got, c.want)
		}
	}
	if got := f.Value(inf, inf, 1); got == got {
		t.Errorf("from ∞ - ∞: %v, want NaN", got)
	}
}
