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
		took, err := timesOf(e, x, classes)
		if err != nil {
			return nil, err
		}
		speed := int(min(max(1, float64(x.Size())/took.Evaluation/ShareValues), mostShare))
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

// Times are the seconds that a driver takes for dense examples: to load them, and to evaluate them
// once.
type Times struct{ Load, Evaluation float64 }

// TimesFor returns the times of a driver for so many stored values of so many features and classes.
// It measures at most 2^22 of them, in about a tenth of a second.
func TimesFor(e engine.Driver, features, classes, stored int) (Times, error) {
	x := made(min(features, 1<<15), min(stored, 1<<22))
	took, err := timesOf(e, x, classes)
	scale := float64(stored) / float64(x.Size())
	return Times{took.Load * scale, took.Evaluation * scale}, err
}

// timesOf returns the times of an evaluation, the shortest of a few after a first, and of loading.
func timesOf(e engine.Driver, x dataset.Examples, classes int) (took Times, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("shard: to measure %s: %w", e.Device().ID, err)
		}
	}()
	start := time.Now()
	loaded, err := e.Load(x, engine.Task{Use: engine.UseEvaluator, Classes: classes,
		Format: numerics.NewFixedPoint(1, x.N)})
	if err != nil {
		return took, err
	}
	took.Load = time.Since(start).Seconds()
	defer func() { err = errors.Join(err, loaded.Close()) }()
	r := loaded.(engine.LoadedEvaluator)
	labels := make([]int32, x.N)
	for i := range labels {
		labels[i] = int32(i % classes)
	}
	if err := r.SetTargets(engine.Targets{Values: make([]float32, classes*classes),
		Row: labels}); err != nil {
		return took, err
	}
	w, sums := engine.NewWeights(classes, x.D), make([]int64, classes*x.D)
	took.Evaluation = math.Inf(1)
	for range 4 {
		start = time.Now()
		if _, err := r.Evaluate(sums, w); err != nil {
			return took, err
		}
		took.Evaluation = min(took.Evaluation, max(time.Since(start).Seconds(), 1e-9))
		for j := range w.W {
			w.W[j] += float32(j%7) * 0x1p-8
		}
	}
	return took, nil
}
