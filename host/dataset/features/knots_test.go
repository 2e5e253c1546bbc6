package features

import (
	"slices"
	"testing"
)

// TestCuts: cuts part sorted values, beside one that fills several parts; of nothing, and of one
// value, there are none.
func TestCuts(t *testing.T) {
	zeros := func(n int, more ...float64) []float64 { return append(make([]float64, n), more...) }
	for _, c := range []struct {
		name   string
		values []float64
		want   []float32
	}{
		{"nothing", nil, nil},
		{"one value", zeros(5), nil},
		{"two values", zeros(5, 1, 1), nil},
		{"even", []float64{1, 2, 3, 4, 5, 6, 7, 8}, []float32{3, 5, 7}},
		{"mostly 0, the least", zeros(90, 1, 2, 3, 4, 5, 6, 7, 8), []float32{3, 5, 7}},
		{"mostly 0, between", append([]float64{-2, -1}, zeros(90, 1, 2, 3, 4, 5, 6)...),
			[]float32{0, 1, 3, 5}},
	} {
		if got := cuts(c.values, 3); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
