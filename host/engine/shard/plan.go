package shard

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// Plan is the sum of what the engines of all ranks need, and the class sums of the whole on each
// besides.
func (e unchecked) Plan(rows dataset.Rows, y []int32, classes int) (engine.Plan, error) {
	x := rows.Stored()
	c := e.cut(x, step)
	var err error
	if y == nil {
		err = e.judgeLoad("plan", x, classes, c)
	} else {
		_, err = e.judgeCells("plan", x, y, classes, numerics.FixedPoint{}, c)
	}
	if err != nil {
		return engine.Plan{}, err
	}
	sum, err := e.plan(c, func(p part) (engine.Plan, error) {
		part := y
		if y != nil {
			part = y[p.from:p.to]
		}
		return p.e.Plan(x.Rows(p.from, p.to), part, classes)
	})
	if err == nil && y != nil {
		whole := memory.Product(8, classes, classes, x.D)
		sum.ClassSums = memory.Sum(sum.ClassSums, whole)
		err = memory.Check(whole,
			fmt.Sprintf("plan: class sums of the whole, %d × %d cells × %d features", classes, classes, x.D))
	}
	return e.whole(sum, err)
}

// PlanEvaluator is Plan for LoadEvaluator.
func (e unchecked) PlanEvaluator(rows dataset.Rows, classes int) (engine.Plan, error) {
	x := rows.Stored()
	c := e.cut(x, numerics.Block)
	if _, err := e.judgeEvaluator("plan", x, classes, numerics.FixedPoint{}, c); err != nil {
		return engine.Plan{}, err
	}
	sum, err := e.plan(c, func(p part) (engine.Plan, error) {
		return p.e.PlanEvaluator(x.Rows(p.from, p.to), classes)
	})
	return e.whole(sum, err)
}

// whole adds the plans of all ranks up.
func (e *sharded) whole(p engine.Plan, err error) (engine.Plan, error) {
	none, away := int64(0), int64(0) // ranks without a limit, and not in place
	if p.Tiles > 0 && p.Limit == 0 {
		none = 1
	}
	if !p.InPlace {
		away = 1
	}
	n := []int64{p.Examples, p.Aside, p.Scores, p.ClassSums, p.Scratch, p.Limit, int64(p.Tiles),
		int64(p.TilesAside), none, away}
	if err := e.sum(err, 0, n); err != nil {
		return p, err
	}
	sum := engine.Plan{Examples: n[0], Aside: n[1], Scores: n[2], ClassSums: n[3], Scratch: n[4],
		Limit: n[5], Tiles: int(n[6]), TilesAside: int(n[7]), InPlace: n[9] == 0}
	if n[8] > 0 {
		sum.Limit = 0
	}
	return sum, nil
}

// plan adds up the plans of this rank's engines. Where one of them has no limit, the sum has none.
func (e *sharded) plan(c cuts, of func(part) (engine.Plan, error)) (sum engine.Plan, err error) {
	sum.InPlace = true
	limited := true
	for _, p := range e.parts(c) {
		one, err := of(p)
		if err != nil {
			return engine.Plan{}, err
		}
		sum.Examples += one.Examples
		sum.Aside += one.Aside
		sum.Scores += one.Scores
		sum.ClassSums += one.ClassSums
		sum.Scratch += one.Scratch
		sum.Limit += one.Limit
		sum.Tiles += one.Tiles
		sum.TilesAside += one.TilesAside
		sum.InPlace = sum.InPlace && one.InPlace
		limited = limited && one.Limit > 0
	}
	if !limited {
		sum.Limit = 0
	}
	return sum, nil
}
