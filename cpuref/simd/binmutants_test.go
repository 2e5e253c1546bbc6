package simd

import (
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/enginetest"
)

// binMutants are ways to break the inner loops of trees. Each must turn the conformance suite red.
var binMutants = []struct {
	name   string
	change func(k *binKernels)
}{
	{"the last of eight features left out", func(k *binKernels) {
		k.aligned = func(sums *[groupSize][256]int64, rows []uint8, at []int, value []int64) {
			before := sums[groupSize-1]
			alignedGo(sums, rows, at, value)
			sums[groupSize-1] = before
		}
	}},
	{"the last example of a block left out", func(k *binKernels) {
		k.aligned = func(sums *[groupSize][256]int64, rows []uint8, at []int, value []int64) {
			alignedGo(sums, rows, at, value[:max(1, len(value)-1)])
		}
	}},
	{"the second four features repeat the first four", func(k *binKernels) {
		k.picked = func(sums *[groupSize][256]int64, rows []uint8, at, places []int, value []int64) {
			places = slices.Clone(places)
			copy(places[len(places)/2:], places)
			pickedGo(sums, rows, at, places, value)
		}
	}},
	{"picked features in their order", func(k *binKernels) {
		k.picked = func(sums *[groupSize][256]int64, rows []uint8, at, places []int, value []int64) {
			pickedGo(sums, rows, at, slices.Sorted(slices.Values(places)), value)
		}
	}},
	{"the last example on the other side", func(k *binKernels) {
		k.partition = func(order, right []int32, column []uint8, isLeft *[256]uint8) int {
			left := partitionGo(order, right, column, isLeft)
			if left == len(order) && left > 3 {
				left--
				right[0] = order[left]
			}
			return left
		}
	}},
	{"bins from 128 on sent right", func(k *binKernels) {
		k.partition = func(order, right []int32, column []uint8, isLeft *[256]uint8) int {
			table := *isLeft
			clear(table[128:])
			return partitionGo(order, right, column, &table)
		}
	}},
	{"one example too many in packed sums", func(k *binKernels) {
		k.limit = func(most int) int { return limitGo(most) + 1 }
	}},
	{"packed sums as if each example counted once", func(k *binKernels) {
		k.limit = func(int) int { return limitGo(1) }
	}},
	{"a tree taken for one that grew, whatever its features", func(k *binKernels) {
		k.same = func(s *nodeSplit, n engine.Node) bool { return s != nil && s.left == n.Left }
	}},
	{"a tree taken for one that grew, whatever its sets", func(k *binKernels) {
		k.same = func(s *nodeSplit, n engine.Node) bool {
			return s != nil && s.feature == int(n.Feature)
		}
	}},
}

func TestBinMutantsAreCaught(t *testing.T) {
	levels := available()
	for _, m := range binMutants {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			broken := *levels[len(levels)-1]
			m.change(&broken.binKernels)
			e := engine.New(&processor{k: &broken})
			for _, c := range enginetest.BinnedCases() {
				if err := c.Check(e); err != nil {
					t.Logf("caught by %s: %v", c.Name, err)
					return
				}
			}
			t.Errorf("the conformance suite does not notice this broken engine")
		})
	}
}
