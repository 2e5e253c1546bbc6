//go:build cgo && !noopencl

package gpu

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/enginecheck"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// Plan loads the examples on a queue that allocates nothing, and tells what it was asked for.
func (e unchecked) Plan(x dataset.Stored, t enginecheck.Task) (engine.Plan, error) {
	if err := e.checkMemory(x, t); err != nil {
		return engine.Plan{}, err
	}
	q, planning := *e.q, *e.deviceEngine
	q.planned, q.last, planning.q = map[string]int64{}, nil, &q
	r, err := newResident(&planning, x, t)
	if err != nil {
		return engine.Plan{}, fmt.Errorf("%d examples of %d features on %s: %w", x.N, x.D, e.info.ID(),
			err)
	}
	p := engine.Plan{Tiles: len(r.tiles), Limit: e.q.memory, InPlace: e.shares,
		Scores: q.planned["scores"], ClassSums: q.planned["class sums"],
		Scratch: q.inUse - e.q.inUse - q.planned["scores"] - q.planned["class sums"]}
	for _, tile := range r.tiles {
		bytes := tile.bytes(x.D)
		p.Examples += bytes
		if tile.streamed() || tile.dense.host != nil {
			p.TilesAside++
			p.Aside += bytes
		}
	}
	p.Scratch -= p.Examples - p.Aside
	return p, nil
}

// checkMemory refuses what cannot fit before anything of its size is taken: class sums that
// the device has no room for, and what the process has besides device memory, or together
// with it where they are one.
func (e *deviceEngine) checkMemory(x dataset.Stored, t enginecheck.Task) error {
	q, host := t.Classes, memory.Product(4, x.N, t.Classes)
	if t.Use == enginecheck.Evaluating { // targets and residuals besides scores
		host = memory.Product(3*4, x.N, q)
	}
	if !e.info.SharesMemory {
		host = 0
	}
	if t.Use == enginecheck.Sorting {
		sums, free := memory.Product(8, q, q, x.D), max(0, e.q.memory-e.q.inUse)
		if sums > free {
			return fmt.Errorf("class sums of %d × %d cells × %d features on %s: %w: they take %d bytes, %d "+
				"of %d are free", q, q, x.D, e.info.ID(), engine.ErrMemory, sums, free, e.q.memory)
		}
		if e.info.SharesMemory {
			host += sums
		}
		// tables of cells, weights
		host += memory.Sum(memory.Product(2*8+3*4, q, q), memory.Product(4, q, x.D))
	}
	return memory.Check(host,
		fmt.Sprintf("what %d examples of %d features and %d classes take besides themselves",
			x.N, x.D, q))
}
