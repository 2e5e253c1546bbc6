package enginetest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

type value interface {
	uint8 | int32 | int64 | float32
}

// same compares two slices bit for bit, so that -0 differs from +0, and names the first
// difference. All NaN are one value, since no device promises their payload.
func same[T value](what string, got, want []T) error {
	if len(got) != len(want) {
		return fmt.Errorf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if g == w && (g != 0 || math.Signbit(float64(g)) == math.Signbit(float64(w))) ||
			g != g && w != w {
			continue
		}
		return fmt.Errorf("%s[%d] = %v (%x), want %v (%x)", what, i, g, g, w, w)
	}
	return nil
}

// guard is how many sentinels lie on either side of a slice under test.
const guard = 64

// sentinel returns a value that no computation here arrives at.
func sentinel[T value]() T {
	far := int32(-123456792) // its last bits in narrow types
	return T(far)
}

// fences check after use that nothing was written to slices, or beside them.
type fences []func() error

// intact joins the errors of all.
func (f fences) intact() error {
	var errs []error
	for _, check := range f {
		errs = append(errs, check())
	}
	return errors.Join(errs...)
}

// beside returns n sentinels in the middle of more, and a check of those around them.
func beside[T value](what string, n int) (middle []T, check func() error) {
	whole := slices.Repeat([]T{sentinel[T]()}, n+2*guard)
	return whole[guard : guard+n], func() error {
		for i := range guard {
			if whole[i] != sentinel[T]() || whole[len(whole)-1-i] != sentinel[T]() {
				return fmt.Errorf("%s: wrote outside the slice it was given", what)
			}
		}
		return nil
	}
}

// fence returns a copy of v between sentinels that f checks; nil stays nil.
func fence[T value](f *fences, what string, v []T) []T {
	if v == nil {
		return nil
	}
	middle, check := beside[T](what, len(v))
	copy(middle, v)
	*f = append(*f, check, func() error { return same(what+" after use", middle, v) })
	return middle
}

// examples returns a fenced copy of x.
func (f *fences) examples(x dataset.Examples) dataset.Examples {
	x.X, x.Starts = fence(f, "examples", x.X), fence(f, "row starts", x.Starts)
	x.Columns, x.Values = fence(f, "columns", x.Columns), fence(f, "values", x.Values)
	return x
}

// targets returns a fenced copy of t.
func (f *fences) targets(t engine.Targets) engine.Targets {
	t.Values, t.Row = fence(f, "values of targets", t.Values), fence(f, "rows of targets", t.Row)
	t.Weight = fence(f, "weights of examples", t.Weight)
	return t
}

// into lets fill write a fenced slice as long as want, whose values show where it does not, and
// compares it.
func into[T value](what string, want []T, fill func(dst []T) error) error {
	dst, check := beside[T](what, len(want))
	if err := errors.Join(fill(dst), check()); err != nil {
		return err
	}
	return same(what, dst, want)
}

// agree lets op fill n values of got, fenced, and of the reference want, and compares them.
func agree[R any, T value](what string, got, want R, n int, op func(r R, dst []T) error) error {
	expected := make([]T, n)
	if err := op(want, expected); err != nil {
		return fmt.Errorf("%s of the reference: %w", what, err)
	}
	return into(what, expected, func(dst []T) error { return op(got, dst) })
}
