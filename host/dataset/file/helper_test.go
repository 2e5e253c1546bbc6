package file

import (
	"math"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

func sameBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) || (got == nil) != (want == nil) {
		t.Fatalf("%s: %d values, wanted %d", what, len(got), len(want))
	}
	for j := range got {
		if math.Float32bits(got[j]) != math.Float32bits(want[j]) {
			t.Fatalf("%s: value %d is %v (%08x), wanted %v (%08x)", what, j,
				got[j], math.Float32bits(got[j]), want[j], math.Float32bits(want[j]))
		}
	}
}

func allSteps() []dataset.Steps {
	var all []dataset.Steps
	for k := range 16 {
		s := dataset.Steps{Standardize: k&1 != 0, MaxAbs: k&2 != 0, Bias: k&4 != 0, L2: k&8 != 0}
		if !s.Standardize || !s.MaxAbs {
			all = append(all, s)
		}
	}
	return all
}
