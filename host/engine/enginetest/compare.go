package enginetest

import (
	"fmt"
	"math"
)

// same compares two slices bit for bit and names the first difference.
func same[T int32 | int64](what string, got, want []T) error {
	if len(got) != len(want) {
		return fmt.Errorf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			return fmt.Errorf("%s[%d] = %d, want %d", what, i, got[i], want[i])
		}
	}
	return nil
}

// sameFloats compares bits, so that -0 differs from +0; all NaN are one value,
// since no device promises their payload.
func sameFloats(what string, got, want []float32) error {
	if len(got) != len(want) {
		return fmt.Errorf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range got {
		g, w := got[i], want[i]
		if math.Float32bits(g) != math.Float32bits(w) && (g == g || w == w) {
			return fmt.Errorf("%s[%d] = %v (%08x), want %v (%08x)", what, i, g, math.Float32bits(g), w, math.Float32bits(w))
		}
	}
	return nil
}

// guard is how many sentinel values lie on either side of a slice under test.
const guard = 64

// sentinel is a value no computation here arrives at.
func sentinel[T int32 | int64 | float32]() T { return T(-123456792) }

// fence copies v to the middle of a larger slice filled with sentinels.
func fence[T int32 | int64 | float32](v []T) (whole, middle []T) {
	whole = make([]T, len(v)+2*guard)
	for i := range whole {
		whole[i] = sentinel[T]()
	}
	middle = whole[guard : guard+len(v)]
	copy(middle, v)
	return whole, middle
}

func intact[T int32 | int64 | float32](what string, whole []T) error {
	for i := range guard {
		if whole[i] != sentinel[T]() || whole[len(whole)-1-i] != sentinel[T]() {
			return fmt.Errorf("%s: wrote outside the slice it was given", what)
		}
	}
	return nil
}

// into lets f fill a fenced slice as long as want and compares it.
func into[T int32 | int64 | float32](want []T, what string, equal func(string, []T, []T) error, f func(dst []T) error) error {
	whole, dst := fence(make([]T, len(want)))
	for i := range dst {
		dst[i] = sentinel[T]() // a value that is not written shows
	}
	if err := f(dst); err != nil {
		return err
	}
	if err := intact(what, whole); err != nil {
		return err
	}
	return equal(what, dst, want)
}

// guarded hands fenced copies of the inputs to f and judges afterwards that
// neither they nor their surroundings were written to.
func guarded(x []float32, y []int32, inv []float32, f func(x []float32, y []int32, inv []float32) error) error {
	wx, gx := fence(x)
	wy, gy := fence(y)
	wi, gi := fence(inv)
	if err := f(gx, gy, gi); err != nil {
		return err
	}
	for _, err := range []error{
		intact("examples", wx), intact("labels", wy), intact("inverse", wi),
		sameFloats("examples after use", gx, x), same("labels after use", gy, y), sameFloats("inverse after use", gi, inv),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}
