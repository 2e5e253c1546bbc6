package estimate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// groups has n examples in groups of 21, whose neighbours are the others of the group: the share
// pure of these are of its class. Labels are of the next class in the share wrong.
func groups(n, q int, wrong, pure float64) (y, near []int32) {
	rng := rand.New(rand.NewPCG(3, uint64(q)))
	const size = NearestForNeighbours + 1
	for i := range n {
		class := i / size % q
		if rng.Float64() > pure {
			class = rng.IntN(q)
		}
		if rng.Float64() < wrong {
			class = (class + 1) % q
		}
		y = append(y, int32(class))
		first := i / size * size
		for j := first; j < first+size; j++ {
			if j != i {
				near = append(near, int32(j))
			}
		}
	}
	return y, near
}

// The labels of nearest neighbours tell how labels are wrong, within the standard errors.
func TestByNeighbours(t *testing.T) {
	for _, wrong := range []float64{0, 0.2, 0.4} {
		y, near := groups(4200, 4, wrong, 1)
		e, err := ByNeighbours(append(slices.Clone(abc), "d"), y, near, NearestForNeighbours)
		if err != nil {
			t.Fatal(err)
		}
		if len(e.Unidentified) > 0 {
			t.Errorf("%v wrong: not identified: %v", wrong, e.Unidentified)
		}
		for p := range 4 {
			for c := range 4 {
				want := 0.0
				switch p {
				case c:
					want = 1 - wrong
				case (c + 1) % 4:
					want = wrong
				}
				if off := math.Abs(e.P[p*4+c] - want); off > 0.03 || off > 3*e.Error[p*4+c]+1e-3 {
					t.Errorf("%v wrong: P(%d|%d) = %v ± %v, want %v", wrong, p, c, e.P[p*4+c],
						e.Error[p*4+c], want)
				}
			}
		}
	}
}

// Where neighbours are of other classes, standard errors grow, or no class is identified.
func TestMixedNeighbours(t *testing.T) {
	y, near := groups(4200, 3, 0.2, 0.8)
	e, err := ByNeighbours(abc, y, near, NearestForNeighbours)
	if err != nil {
		t.Fatal(err)
	}
	for c := range 3 {
		at := c*3 + c
		if off := math.Abs(e.P[at] - 0.8); e.Identified(c) && !(off <= 2*e.Error[at]) {
			t.Errorf("P(%d|%d) is %v, %v from 0.8 with the error %v", c, c, e.P[at], off, e.Error[at])
		}
	}
	// Each example is alone among examples of the next class.
	for i := range y {
		y[i] = int32(i % 3)
		near[i*NearestForNeighbours], near[i*NearestForNeighbours+1] = int32((i+1)%len(y)),
			int32((i+4)%len(y))
	}
	if e, err = ByNeighbours(abc, y, near, NearestForNeighbours); err != nil ||
		len(e.Unidentified) != 3 {
		t.Errorf("got %v, %v", e, err)
	}
	if _, err := ByNeighbours(abc, y, near, 1); !facts.Told(err, "neighbours two") {
		t.Error(err)
	}
	_, err = ByNeighbours(abc, []int32{0, 7}, []int32{1, 1, 0, 0}, 2)
	if !facts.Told(err, "label 7") {
		t.Error(err)
	}
}
