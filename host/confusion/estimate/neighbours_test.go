package estimate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
	"github.com/uma-gpu/uma-gpu/internal/lists"
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

// Unmix gives what its formula does, of noise with and without zeros and equal entries.
func TestUnmixEqualsFormula(t *testing.T) {
	const n, q = 40, 7
	rng := rand.New(rand.NewPCG(5, 5))
	for _, zeros := range []float64{0, 0.5, 1} {
		noise, p := make([]float64, q*q), make([]float32, 0, n*q)
		for k := range q {
			sum := 0.0
			for y := range q {
				v := rng.Float64()
				if y != k && rng.Float64() < zeros {
					v = 0.01 * float64(k%2)
				}
				noise[y*q+k] = v
				sum += v
			}
			for y := range q {
				noise[y*q+k] /= sum
			}
		}
		for range n {
			row, sum := make([]float32, q), float32(0)
			for k := range row {
				row[k] = max(0, rng.Float32()-0.3)
				sum += row[k]
			}
			for k := range row {
				row[k] /= sum
			}
			p = append(p, row...)
		}
		got := slices.Clone(p)
		Unmix(got, noise, q)
		for i := range n {
			truth := slices.Repeat([]float64{1. / q}, q)
			for range unmixRounds {
				next := make([]float64, q)
				for y, v := range p[i*q : (i+1)*q] {
					sum := 0.0
					for k, f := range truth {
						sum += noise[y*q+k] * f
					}
					for k, f := range truth {
						if sum > 0 {
							next[k] += float64(v) * noise[y*q+k] * f / sum
						}
					}
				}
				truth = next
			}
			sum := lists.Sum(truth)
			for k, f := range truth {
				if v := float64(got[i*q+k]); math.Abs(v-f/sum) > 1e-6 {
					t.Fatalf("zeros %v, example %d, class %d: got %v, want %v", zeros, i, k, v, f/sum)
				}
			}
		}
	}
}
