package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/judge/metric"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/kernel/means"
)

var kernelMeanAtoms = &experiment{
	Name:  "kernel-mean-atoms",
	Usage: "few atoms for all points of 16 spots (figures 1 and 2 of its paper)",
	Paper: meanPaper + "Figures 1 and 2",
	About: "960 points in 16 spots of the plane, whose two classes alternate; a Gaussian kernel " +
		"function. Some of\nthe points stand for all: one of each part into which farthest-first " +
		"traversal cuts a class " +
		"(clusters),\ndrawn at random (uniform), or herded. The paper says that 16 of the first " +
		"classify all points, and 16 " +
		"of\nthe second will with high probability miss a spot. Each has the weights of " +
		"its choice. Two " +
		"measures:\nerrors on the points themselves, and how far the means are from the exact ones in " +
		"feature space.",
	Axis: "atoms", run: runKernelMeanAtoms,
}

// Distance is how far a mean by few atoms is from that by all examples, in feature space; of
// several classes the largest.
const Distance = "distance"

// spotSize is how far the points of a spot are from its middle at most; the middles are 1 apart.
const spotSize = 0.1

func runKernelMeanAtoms(ctx context.Context, r *run) error {
	var t tally
	for level, atoms := range []int{8, 12, 16, 24, 32, 48, 64, 128, 256} {
		for _, choice := range []string{means.Clusters, means.Uniform, means.Herding} {
			for k := range r.Runs {
				wrong, far, err := r.spotsByAtoms(ctx, atoms, choice, r.Seed+uint64(k))
				if err != nil {
					return fmt.Errorf("%d atoms, %s: %w", atoms, choice, err)
				}
				row := Row{Data: "16 spots", Learner: choice, Level: level, X: float64(atoms),
					Measure: ErrorRate}
				if choice == means.Clusters && atoms == 16 {
					row.Paper = number(0)
				}
				t.add(row, wrong)
				row.Measure, row.Paper = Distance, nil
				t.add(row, far)
			}
		}
		r.Note("%s: %d atoms", r.name, atoms)
	}
	return r.writeAll(t)
}

// spotsByAtoms draws a problem and returns the share of its points that this number of atoms gets
// wrong, and the distance.
func (r *run) spotsByAtoms(ctx context.Context, atoms int, choice string, seed uint64,
) (wrong, far float64, err error) {
	d := newSpots(960, seed)
	m, err := means.Fit(ctx, r.Engine, d.Examples, d.Y, 2, means.Options{
		Function: kernel.Function{Kind: kernel.RBF, Gamma: 4},
		Atoms:    atoms, Choice: choice, Weights: means.Own, Seed: seed})
	if err != nil {
		return 0, 0, err
	}
	means := make([]float32, 2*d.N)
	if err := r.Engine.Project(means, d.Examples, m.Projection); err != nil {
		return 0, 0, err
	}
	predicted := make([]int32, d.N)
	for i := range predicted {
		if means[2*i+1] > means[2*i] {
			predicted[i] = 1
		}
	}
	report, err := metric.Evaluate(d.Y, predicted, d.Classes)
	return report.ErrorRate, slices.Max(m.Error), err
}

// newSpots draws n points in 16 spots, four by four, as many in each, whose classes alternate as
// on a chessboard.
func newSpots(n int, seed uint64) *dataset.Dataset {
	rng := rand.New(rand.NewPCG(seed, 0x73706f7473)) // "spots"
	d := &dataset.Dataset{Examples: dataset.Examples{N: n, D: 2}, Classes: classNames(2)}
	for i := range n {
		row, column := i%4, i/4%4
		a, b := 1.0, 1.0
		for float64(a*a)+float64(b*b) > 1 {
			a, b = 2*rng.Float64()-1, 2*rng.Float64()-1
		}
		d.X = append(d.X, float32(float64(row)+float64(spotSize*a)),
			float32(float64(column)+float64(spotSize*b)))
		d.Y = append(d.Y, int32((row+column)%2))
	}
	d.SHA256 = d.Hash()
	return d
}
