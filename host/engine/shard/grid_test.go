package shard_test

import (
	"math/rand/v2"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// cell is what else a training has: its ranks, the devices of each, and what these are.
type cell struct {
	ranks, devices int
	kind           string
}

// grid has all cells, but for a single device of both kinds.
func grid(opencl bool) (all []cell) {
	for _, ranks := range []int{1, 2, 3, 4, 8} {
		for devices := range 2 {
			all = append(all, cell{ranks, devices + 1, "cpu"})
			if opencl {
				all = append(all, cell{ranks, devices + 1, "opencl"})
			}
			if opencl && ranks*(devices+1) > 1 {
				all = append(all, cell{ranks, devices + 1, "both"})
			}
		}
	}
	return all
}

// TestLearners: a learner gets the same weights as on one engine, from examples of any form, on 1
// to 8 ranks with one or two devices each (the processor, OpenCL or both), however the examples are
// cut.
func TestLearners(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	data, noise := problem(t, false)
	sparse, _ := problem(t, true)
	opencl := devices(t, 16)
	cells, next := grid(opencl != nil), 0
	for _, w := range ways() {
		w.options.Preparation = "maxabs,bias,l2" // sparse examples have another default
		want, err := train(t.Context(), simd.New(), w, data, noise)
		if err != nil {
			t.Fatal(err)
		}
		for name, x := range map[string]*dataset.Dataset{"dense": data, "sparse": sparse} {
			t.Run(w.name+", "+name, func(t *testing.T) {
				some, cuts := cells, 10
				if w.name == "classmean" || w.name == "perceptron" {
					cuts = 1
				}
				if !*all {
					// 11 has no divisor in common with 29 cells, nor with the 10 without OpenCL: they take turns.
					some, cuts = cells[next%len(cells):][:1], 1
					next += 11
				}
				for _, c := range some {
					for range cuts {
						c.judge(t, rng, w, x, opencl, noise, want)
					}
				}
			})
		}
	}
}

// judge trains on a random cut.
func (c cell) judge(
	t *testing.T, rng *rand.Rand, w way, data *dataset.Dataset, opencl []engine.Driver,
	noise *confusion.Matrix,
	want string) {
	t.Helper()
	shares := make([][]int, c.ranks)
	drivers := make([][]engine.Driver, c.ranks)
	for k, at := range rng.Perm(c.ranks * c.devices) {
		rank := k % c.ranks
		shares[rank] = append(shares[rank], 1+rng.IntN(20))
		e := simd.NewDriver()
		if c.kind == "opencl" || c.kind == "both" && at%2 == 0 {
			e = opencl[at]
		}
		drivers[rank] = append(drivers[rank], e)
	}
	for rank, got := range spread(t, w, shares, data, noise,
		func(rank int) []engine.Driver { return drivers[rank] }) {
		if arrays(got) != arrays(want) { // metadata have the name and the hash of a file
			t.Errorf("%s, shares %v: rank %d found %s, want %s as of one processor", c.kind, shares, rank,
				got, want)
		}
	}
}
