//go:build linux && cgo && !noopencl

package gpu

import (
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
}
