package means_test

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/means"
)

// TestLengths compares lengths with a twin in float64 that has two classes and signs and twice the
// length, with right labels and with noisy labels that an inverse corrects; a width that the spots
// have gives the greatest length.
func TestLengths(t *testing.T) {
	x, y := spots(160, 1)
	var functions []kernel.Function
	for _, gamma := range []float32{0.01, 4, 5000} {
		functions = append(functions, kernel.Function{Kind: kernel.RBF, Gamma: gamma})
	}
	for _, inverse := range [][]float64{{1, 0, 0, 1}, {1.5, -0.5, -0.5, 1.5}} {
		got, within, err := means.Lengths(t.Context(), simd.New(), x, y, 2, inverse, functions, 1)
		if err != nil {
			t.Fatal(err)
		}
		factor := inverse[0] - inverse[1] // by which signs are longer
		want := factor * math.Sqrt(0.5) * (1 + math.Sqrt(2*math.Log(3/0.05))) / math.Sqrt(160)
		if math.Abs(within-want) > 1e-9 {
			t.Errorf("within %v, wanted %v", within, want)
		}
		for g, f := range functions {
			v, u := 0.0, 0.0
			for i := range x.N {
				for j := range x.N {
					d := 0.0
					for c, a := range x.Row(i) {
						d += (float64(a) - float64(x.Row(j)[c])) * (float64(a) - float64(x.Row(j)[c]))
					}
					term := factor * factor * math.Exp(-float64(f.Gamma)*d) / 2
					if y[i] != y[j] {
						term = -term
					}
					if v += term; i != j {
						u += term
					}
				}
			}
			v, u = v/160/160, u/160/159
			if math.Abs(got[g].V-v) > 1e-5 || math.Abs(got[g].U-u) > 1e-5 {
				t.Errorf("gamma %v: V %v, U %v, wanted %v, %v", f.Gamma, got[g].V, got[g].U, v, u)
			}
		}
		if got[1].U < 10*got[0].U || got[1].U < 10*got[2].U {
			t.Errorf("lengths %+v", got)
		}
		again, _, err := means.Lengths(t.Context(), cpuref.New(), x.Compressed(), y, 2, inverse,
			functions, 1)
		if err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("other lengths: %+v, %v", again, err)
		}
	}
	_, _, err := means.Lengths(t.Context(), simd.New(), x, y, 2, []float64{1}, functions, 1)
	if !errors.Is(err, engine.ErrShape) {
		t.Errorf("an inverse of one number: %v", err)
	}
	functions[0].Gamma = 0
	_, _, err = means.Lengths(t.Context(), simd.New(), x, y, 2, []float64{1, 0, 0, 1}, functions, 1)
	if err == nil {
		t.Error("gamma 0 is taken")
	}
}
