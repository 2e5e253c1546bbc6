//go:build linux && cgo && !noopencl

package gpu

import (
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// Indices that a device wrote are judged before they are used.
func TestIndicesAreJudged(t *testing.T) {
	tile := &tile{rows: 10}
	for _, moves := range [][]int32{{}, {0, -1, 5, 9, 5, 0}} {
		if err := tile.checkMoves(moves, 3, "moves"); err != nil {
			t.Errorf("moves %d: %v", moves, err)
		}
	}
	for _, moves := range [][]int32{{10, 0, 0}, {-1, 0, 0}, {0, -2, 0}, {0, 6, 0}, {0, 0, -1}, {0, 1,
		2, 0, 0, 6}} {
		if err := tile.checkMoves(moves, 3, "moves"); !facts.Told(err, `assign "moves"`) {
			t.Errorf("moves %d: %v", moves, err)
		}
	}
	lefts := []int32{3, 0, 1}
	sum, err := sumLefts(lefts, 9, 4)
	if want := []int32{0, 3, 3}; sum != 4 || err != nil || !slices.Equal(lefts, want) {
		t.Errorf("sums %d, %d, %v", lefts, sum, err)
	}
	for _, lefts := range [][]int32{{-1, 0, 0}, {5, 0, 0}, {0, 0, 2}} {
		if _, err := sumLefts(lefts, 9, 4); !facts.Told(err, "split_count counted") {
			t.Errorf("counts %d: %v", lefts, err)
		}
	}
}
