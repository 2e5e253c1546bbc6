package shard_test

import (
	"fmt"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/shard"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/host/ranks"
)

// TestTraffic: what each operation sends is what docs/scale.md says.
func TestTraffic(t *testing.T) {
	data, _ := problem(t, false)
	n, d, q := int64(data.N), int64(data.D), int64(4)
	for rank, err := range onRanks(3, func(_ int, r ranks.Reducer) error {
		var traffic ranks.Traffic
		m := traffic.Through(r)
		e, err := shard.Ranks(t.Context(), m, []engine.Engine{simd.New()}, nil)
		if err != nil {
			return err
		}
		cells, err := e.LoadCells(data.Examples, data.Y, int(q), numerics.FixedPoint{})
		if err != nil {
			return err
		}
		evaluator, err := e.LoadEvaluator(data.Examples, int(q), numerics.FixedPoint{})
		if err != nil {
			return err
		}
		if err := evaluator.SetTargets(engine.Targets{Row: data.Y, Values: make([]float32,
			q*q)}); err != nil {
			return err
		}
		step := sent(&traffic)
		w := engine.NewWeights(int(q), int(d))
		for i := range w.W {
			w.W[i] = float32(i%7 - 3)
		}
		if err := step("rescore", 16, 0, cells.Rescore(w, []int{0, 1, 2, 3})); err != nil {
			return err
		}
		_, err = cells.Assign(0)
		if err := step("assign", 16*q*q+24, 0, err); err != nil {
			return err
		}
		norms, inverse := make([]float32, q*q), make([]float32, q*q)
		if err := step("norms", 8*q*q*d+16, 0, cells.Norms(norms, inverse)); err != nil {
			return err
		}
		if err := step("norms again", 0, 0, cells.Norms(norms, inverse)); err != nil {
			return err
		}
		_, err = evaluator.Evaluate(make([]int64, q*d), w)
		if err := step("evaluate", 8*q*d+32, 0, err); err != nil {
			return err
		}
		if err := step("predict", 16, 4*n, cells.Predict(make([]int32, n))); err != nil {
			return err
		}
		return step("scores", 16, 4*n*q, cells.Scores(make([]float32, n*q), 0, int(n)))
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// sent returns a judge of what t counts since it was last asked, or since sent was: other than so
// many bytes summed and broadcast is an error, and so is err.
func sent(t *ranks.Traffic) func(what string, summed, broadcast int64, err error) error {
	last := *t
	return func(what string, summed, broadcast int64, err error) error {
		now := *t
		if got := now.Summed - last.Summed; err == nil && got != summed {
			err = fmt.Errorf("%s: %d bytes are summed, wanted %d", what, got, summed)
		}
		if got := now.Broadcast - last.Broadcast; err == nil && got != broadcast {
			err = fmt.Errorf("%s: %d bytes are broadcast, wanted %d", what, got, broadcast)
		}
		last = now
		return err
	}
}
