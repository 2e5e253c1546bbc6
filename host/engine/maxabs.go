package engine

import (
	"fmt"
	"math"
	"sort"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// MaxAbs returns the largest absolute value of x, of which numerics.NewFixedPoint makes the
// format of several parts. Errors: ErrShape, and ErrValue for the first value that is not
// finite.
func MaxAbs(x dataset.Examples) (float32, error) {
	if err := x.Check(); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrShape, err)
	}
	values := x.X
	if x.Sparse() {
		values = x.Values
	}
	// Bits without the sign are ordered as the absolute values are, NaN and ±Inf
	// last; integers are compared four times as fast.
	const sign = 1 << 31
	largest := uint32(0)
	for at, v := range values {
		a := math.Float32bits(v) &^ sign
		if largest = max(largest, a); a > math.MaxUint32&^sign-1<<23 {
			i, j := at/x.D, at%x.D
			if x.Sparse() {
				i, j = sort.Search(x.N, func(i int) bool { return x.Starts[i+1] > int64(at) }), int(x.Columns[at])
			}
			return 0, fmt.Errorf("%w: row %d has %v in column %d", ErrValue, i, v, j)
		}
	}
	return math.Float32frombits(largest), nil
}
