package shard

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// ShareValues is the number of stored values a second that a share of Measure counts.
const ShareValues = 1e5

// Measure returns shares for New and Ranks: the speed at which each driver evaluates dense
// examples, in units of ShareValues. stored is the number of values that the examples will have; at
// most 2^23, of 2^15 features, are made up. It takes some tenths of a second, and measurements
// differ. Drivers of one device count as equally fast. Errors come from the drivers.
func Measure(drivers []engine.Driver, features, classes, stored int) ([]int, error) {
	x := made(min(features, 1<<15), stored)
	shares, fastest := make([]int, len(drivers)), map[string]int{}
	for _, e := range drivers {
		seconds, err := evaluationSeconds(e, x, classes)
		if err != nil {
			return nil, fmt.Errorf("shard: to measure %s: %w", e.Device().ID, err)
		}
		speed := int(min(max(1, float64(x.Size())/seconds/ShareValues), mostShare))
		fastest[e.Device().ID] = max(fastest[e.Device().ID], speed)
	}
	for i, e := range drivers {
		shares[i] = fastest[e.Device().ID]
	}
	return shares, nil
}

// made makes up examples of full mantissas.
func made(features, stored int) dataset.Examples {
	const most = 1 << 23 // values in all
	n := max(numerics.Block, min(stored, most)/features)
	x, state := dataset.Examples{N: n, D: features, X: make([]float32, n*features)}, uint32(1)
	for i := range x.X {
		state = state*1664525 + 1013904223 // Numerical Recipes' linear congruence
		x.X[i] = float32(int32(state)>>8) * 0x1p-23
	}
	return x
}

// evaluationSeconds returns the time of an evaluation, the shortest of a few after a first.
func evaluationSeconds(e engine.Driver, x dataset.Examples, classes int) (_ float64, err error) {
	loaded, err := e.Load(x, engine.Task{Use: engine.UseEvaluator, Classes: classes,
		Format: numerics.NewFixedPoint(1, x.N)})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, loaded.Close()) }()
	r := loaded.(engine.LoadedEvaluator)
	labels := make([]int32, x.N)
	for i := range labels {
		labels[i] = int32(i % classes)
	}
	if err := r.SetTargets(engine.Targets{Values: make([]float32, classes*classes),
		Row: labels}); err != nil {
		return 0, err
	}
	w, sums := engine.NewWeights(classes, x.D), make([]int64, classes*x.D)
	best := math.Inf(1)
	for range 4 {
		start := time.Now()
		if _, err := r.Evaluate(sums, w); err != nil {
			return 0, err
		}
		best = min(best, max(time.Since(start).Seconds(), 1e-9))
		for j := range w.W {
			w.W[j] += float32(j%7) * 0x1p-8
		}
	}
	return best, nil
}
