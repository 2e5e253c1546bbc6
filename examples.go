package umagpu

import (
	"errors"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// ErrExamples marks examples that are no table of numbers.
var ErrExamples = errors.New("examples are no table")

// Number is the type of a feature. Values are rounded to float32.
type Number interface{ ~float32 | ~float64 }

// Examples is a table of examples × features. The zero value holds none.
type Examples struct {
	set dataset.Examples
	err error
}

// Rows returns the examples x, a copy; each has the same number of features. A ragged table is the
// error ErrExamples of Fit and of the methods of Model.
func Rows[T Number](x [][]T) Examples {
	if len(x) == 0 {
		return Examples{}
	}
	e := Examples{set: dataset.Examples{N: len(x), D: len(x[0])}}
	e.set.X = make([]float32, 0, e.set.N*e.set.D)
	for i, row := range x {
		if len(row) != e.set.D {
			return Examples{err: fmt.Errorf("%w: row %d: got %d features, want %d as in row 0", ErrExamples,
				i, len(row), e.set.D)}
		}
		for _, v := range row {
			e.set.X = append(e.set.X, rounded(v))
		}
	}
	return e
}

// Flat returns the examples x, a copy, whose features stand one example after the other, width
// each. A length that is no multiple of width is the error ErrExamples of Fit and of the methods
// of Model.
func Flat[T Number](x []T, width int) Examples {
	if width < 1 || len(x)%width != 0 {
		return Examples{err: fmt.Errorf("%w: got %d values, want a multiple of the width %d", ErrExamples,
			len(x), width)}
	}
	e := Examples{set: dataset.Examples{N: len(x) / width, D: width, X: make([]float32, len(x))}}
	for i, v := range x {
		e.set.X[i] = rounded(v)
	}
	return e
}

// rounded returns the nearest float32, and 0 for subnormal values, which no engine computes with.
func rounded[T Number](v T) float32 {
	const least = 0x1p-126
	f := float32(v)
	if f != 0 && f > -least && f < least {
		return 0
	}
	return f
}
