package enginetest

import (
	"errors"
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// same compares two slices bit for bit and names the first difference.
func same[T uint8 | uint16 | int32 | int64](what string, got, want []T) error {
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
			return fmt.Errorf("%s[%d] = %v (%08x), want %v (%08x)", what, i, g, math.Float32bits(g), w,
				math.Float32bits(w))
		}
	}
	return nil
}

// guard is how many sentinel values lie on either side of a slice under test.
const guard = 64

type value interface {
	uint8 | uint16 | int32 | int64 | float32
}

// sentinel is a value no computation here arrives at.
func sentinel[T value]() T {
	far := int32(-123456792) // of which codes have the last bits
	return T(far)
}

// fence copies v to the middle of a larger slice filled with sentinels; nil stays nil.
func fence[T value](v []T) (whole, middle []T) {
	if v == nil {
		return nil, nil
	}
	whole = make([]T, len(v)+2*guard)
	for i := range whole {
		whole[i] = sentinel[T]()
	}
	middle = whole[guard : guard+len(v)]
	copy(middle, v)
	return whole, middle
}

func intact[T value](what string, whole []T) error {
	for i := range min(guard, len(whole)) { // nothing, where there was no slice
		if whole[i] != sentinel[T]() || whole[len(whole)-1-i] != sentinel[T]() {
			return fmt.Errorf("%s: wrote outside the slice it was given", what)
		}
	}
	return nil
}

// into lets f fill a fenced slice as long as want and compares it.
func into[T value](want []T, what string, equal func(string, []T, []T) error,
	f func(dst []T) error) error {
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
func guarded(x dataset.Stored, y []int32, inv []float32,
	f func(x dataset.Stored, y []int32, inv []float32) error) error {
	g := x
	var wx, wv []float32
	var ws []int64
	var wc []int32
	if x.Sparse() {
		ws, g.Starts = fence(x.Starts)
		wc, g.Columns = fence(x.Columns)
		wv, g.Values = fence(x.Values)
	} else {
		wx, g.X = fence(x.X)
	}
	var w8 []uint8
	var w16 []uint16
	codes := x.At.Narrow()
	if codes != nil {
		fenced := *codes
		w8, fenced.Bytes = fence(codes.Bytes)
		w16, fenced.Halves = fence(codes.Halves)
		g.At = &store.Store{Codes: &fenced}
	}
	wy, gy := fence(y)
	wi, gi := fence(inv)
	if err := f(g, gy, gi); err != nil {
		return err
	}
	if codes != nil {
		if err := errors.Join(same("bytes after use", g.At.Narrow().Bytes, codes.Bytes),
			same("halves after use", g.At.Narrow().Halves, codes.Halves)); err != nil {
			return err
		}
	}
	return errors.Join(
		intact("examples", wx), intact("row starts", ws), intact("columns", wc), intact("values", wv),
		intact("bytes", w8), intact("halves", w16), intact("labels", wy), intact("inverse", wi),
		sameFloats("examples after use", g.X, x.X), same("row starts after use", g.Starts, x.Starts),
		same("columns after use", g.Columns, x.Columns), sameFloats("values after use", g.Values,
			x.Values), same("labels after use", gy, y), sameFloats("inverse after use", gi, inv))
}
