package svm_test

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/svm"
)

// crowds are classes that overlap, on an engine.
func crowds(n, d, q int, seed uint64) *learners.Problem {
	rng := rand.New(rand.NewPCG(seed, uint64(q)))
	p := &learners.Problem{Q: q, Engine: simd.New(), X: dataset.Examples{N: n, D: d}}
	for range n {
		y, row := rng.IntN(q), make([]float32, d)
		for j := range row {
			row[j] = float32(rng.NormFloat64())
		}
		row[y%d] += 2
		p.X.X, p.Y = append(p.X.X, row...), append(p.Y, int32(y))
	}
	return p
}

// Cutting planes end at the solution of descent in the dual: no further above its objective than
// the tolerance says.
func TestCuttingPlanesEndWhereDescentDoes(t *testing.T) {
	for _, multiclass := range []string{svm.OVR, svm.All} {
		for seed, q := range []int{2, 3, 5} {
			for _, cost := range []float64{0.01, 1} {
				p := crowds(120, 6, q, uint64(seed))
				o := svm.Defaults()
				o.Loss, o.Multiclass, o.Cost, o.Tolerance = svm.Hinge, multiclass, cost, 1e-5
				want := objective(p, o, widened(learned(t, o, p)))
				o.Solver, o.Tolerance = svm.Planes, 1e-4
				found := objective(p, o, widened(learned(t, o, p)))
				if !(found >= want*(1-1e-5) && found <= want*(1+1e-4)) {
					t.Errorf("%s, %d classes, C %v: the objective is %v, by descent %v", multiclass, q, cost,
						found, want)
				}
			}
		}
	}
}

func widened(w []float32) []float64 {
	wide := make([]float64, len(w))
	for k, v := range w {
		wide[k] = float64(v)
	}
	return wide
}

// The bits of W, which are the same on every engine and processor.
func TestCuttingPlanesBits(t *testing.T) {
	for multiclass, want := range map[string]uint64{svm.OVR: 0xca4a40158cefc8f6,
		svm.All: 0xf721155c98737633} {
		o := svm.Defaults()
		o.Loss, o.Multiclass, o.Solver, o.ClassWeights = svm.Hinge, multiclass, svm.Planes,
			learners.Balanced
		for _, e := range []*engine.Engine{simd.New(), cpuref.New()} {
			p := crowds(150, 7, 3, 9)
			p.Engine = e
			hash := fnv.New64()
			if err := binary.Write(hash, binary.LittleEndian, learned(t, o, p)); err != nil {
				t.Fatal(err)
			}
			if got := hash.Sum64(); got != want {
				t.Errorf("%s: the weights have the hash %#x, wanted %#x", multiclass, got, want)
			}
		}
	}
}

// A line between two points, whose solution is known: w = (1, 0).
func TestCuttingPlanesOfTwoPoints(t *testing.T) {
	p := &learners.Problem{Q: 2, Engine: cpuref.New(), X: dataset.Examples{N: 2, D: 2, X: []float32{-1,
		0, 1, 0}}, Y: []int32{0, 1}}
	o := svm.Defaults()
	o.Loss, o.Solver, o.Cost, o.Tolerance = svm.Hinge, svm.Planes, 10, 1e-6
	for k, v := range learned(t, o, p) {
		if want := []float64{-1, 0, 1, 0}[k]; math.Abs(float64(v)-want) > 1e-3 {
			t.Errorf("weight %d is %v, wanted %v", k, v, want)
		}
	}
}
