package shard

import (
	"errors"
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/enginecheck"
)

// step is what examples are cut at multiples of that are not evaluated: as many as engines lay
// side by side.
const step = 16

// judge judges the arguments of a load by check and returns the format of the sums: f, or that of
// the whole if f is the zero value. y may be nil.
func (e *sharded) judge(op string, x dataset.Stored, y []int32, c cuts, f numerics.FixedPoint,
	check func(x dataset.Stored, y []int32, f numerics.FixedPoint) (numerics.FixedPoint, error),
) (numerics.FixedPoint, error) {
	if e.all == 1 || x.N < 1 || x.At.Shared() == nil && x.Check() != nil || y != nil && len(y) != x.N {
		return check(x, y, f)
	}
	from, to := e.own(c)
	most, err := int64(0), error(nil)
	if from < to {
		part := x.Rows(from, to)
		if y != nil {
			y = y[from:to]
		}
		if _, err = check(part, y, numerics.FixedPoint{}); err != nil {
			err = fmt.Errorf("of examples %d..%d: %w", from, to-1, err)
		} else {
			maxAbs, _ := engine.MaxAbs(part) // check has judged the values
			most = int64(math.Float32bits(maxAbs))
		}
	}
	if err := e.agree(err); err != nil {
		return f, err
	}
	all := []int64{most}
	if err := e.Max(e.ctx, all); err != nil {
		return f, err
	}
	return enginecheck.Format(op, math.Float32frombits(uint32(all[0])), x.N, f)
}

// judgeLoad is judge for examples without labels.
func (e *sharded) judgeLoad(op string, x dataset.Stored, classes int, c cuts) error {
	_, err := e.judge(op, x, nil, c, numerics.FixedPoint{}, func(
		x dataset.Stored, _ []int32, f numerics.FixedPoint) (numerics.FixedPoint, error) {
		return f, enginecheck.Load(op, x, classes)
	})
	return err
}

func (e *sharded) judgeCells(
	op string, x dataset.Stored, y []int32, classes int, f numerics.FixedPoint, c cuts,
) (numerics.FixedPoint, error) {
	if y == nil {
		y = []int32{}
	}
	return e.judge(op, x, y, c, f, func(x dataset.Stored, y []int32, f numerics.FixedPoint,
	) (numerics.FixedPoint, error) {
		return enginecheck.LoadCells(op, x, y, classes, f)
	})
}

func (e *sharded) judgeEvaluator(
	op string, x dataset.Stored, classes int, f numerics.FixedPoint, c cuts,
) (numerics.FixedPoint, error) {
	return e.judge(op, x, nil, c, f, func(x dataset.Stored, _ []int32, f numerics.FixedPoint,
	) (numerics.FixedPoint, error) {
		return enginecheck.LoadEvaluator(op, x, classes, f)
	})
}

func (e unchecked) Load(rows dataset.Rows, classes int) (engine.Scorer, error) {
	x := rows.Stored()
	c := e.cut(x, step)
	if err := e.judgeLoad("load", x, classes, c); err != nil {
		return nil, err
	}
	s, err := e.load(x, classes, c, func(_ int, p part, x dataset.Stored) (engine.Scorer, error) {
		return p.e.Load(x, classes)
	})
	if err != nil {
		return nil, err
	}
	return &s, nil
}

func (e unchecked) LoadCells(rows dataset.Rows, y []int32, classes int, f numerics.FixedPoint,
) (engine.Cells, error) {
	x := rows.Stored()
	c := e.cut(x, step)
	f, err := e.judgeCells("load cells", x, y, classes, f, c)
	if err != nil {
		return nil, err
	}
	own := make([]engine.Cells, len(e.parts(c)))
	s, err := e.load(x, classes, c, func(i int, p part, x dataset.Stored) (_ engine.Scorer,
		err error) {
		own[i], err = p.e.LoadCells(x, y[p.from:p.to], classes, f)
		return own[i], err
	})
	if err != nil {
		return nil, err
	}
	r := &cells{scorer: s, own: own, fixed: f, regions: make([]int64, classes*classes),
		sums: make([]int64, classes*classes*x.D), fresh: make([]bool, classes), updates: newUpdates(x.D,
			classes)}
	for p := range r.fresh {
		r.fresh[p] = true // every cell is empty
	}
	return r, nil
}

func (e unchecked) LoadEvaluator(rows dataset.Rows, classes int, f numerics.FixedPoint,
) (engine.Evaluator, error) {
	x := rows.Stored()
	c := e.cut(x, numerics.Block)
	f, err := e.judgeEvaluator("load evaluator", x, classes, f, c)
	if err != nil {
		return nil, err
	}
	own := make([]engine.Evaluator, len(e.parts(c)))
	s, err := e.load(x, classes, c, func(i int, p part, x dataset.Stored) (_ engine.Scorer,
		err error) {
		own[i], err = p.e.LoadEvaluator(x, classes, f)
		return own[i], err
	})
	if err != nil {
		return nil, err
	}
	return &evaluator{scorer: s, own: own, fixed: f, others: make([][]int64, len(own))}, nil
}

// load has each engine of this rank load its shard, if it has any examples.
func (e *sharded) load(x dataset.Stored, classes int, c cuts,
	load func(i int, p part, x dataset.Stored) (engine.Scorer, error)) (scorer, error) {
	s := scorer{e: e, n: x.N, d: x.D, q: classes, cuts: c, x: x, parts: e.parts(c)}
	err := e.agree(s.all(func(i int, p part) (err error) {
		s.parts[i].s, err = load(i, p, x.Rows(p.from, p.to))
		if err != nil {
			s.parts[i].s = nil
		}
		return err
	}))
	if err != nil {
		return s, errors.Join(err, s.Close())
	}
	return s, nil
}
