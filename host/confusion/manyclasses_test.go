package confusion

import (
	"math"
	"runtime"
	"slices"
	"testing"
)

// sameBits reports whether two arrays are equal, signs of zeros included.
func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(a, b float64) bool {
		return math.Float64bits(a) == math.Float64bits(b)
	})
}

// Labels that are right cost two tables of their size, be the classes many: a singular
// value decomposition of them would take twice as many, and minutes.
func TestManyClassesWithoutNoise(t *testing.T) {
	const q = 1500
	m, err := Symmetric(names(q), 0)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	v, err := m.Invert()
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if tables := float64(after.TotalAlloc-before.TotalAlloc) / (8 * q * q); tables > 2.1 {
		t.Errorf("inverting takes the memory of %.2f tables, wanted that of 2", tables)
	}
	if v.Condition != 1 || !sameBits(v.V, m.P) {
		t.Errorf("condition number %v, or not the identity", v.Condition)
	}
}
