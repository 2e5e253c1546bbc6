package shard

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/enginecheck"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// step is what examples are cut at multiples of that are not evaluated: as many as engines lay
// side by side.
const step = 16

// check checks what is loaded and returns the format of the sums: that of t, or that of the whole
// if it is zero.
func (e *shardedEngine) check(x dataset.Examples, t enginecheck.Task, c cuts) (numerics.FixedPoint,
	error) {
	if e.all == 1 || x.N < 1 || x.Check() != nil ||
		t.Use == enginecheck.Sorting && len(t.Labels) != x.N {
		return enginecheck.Load(x, t)
	}
	from, to := e.own(c)
	most, err := int64(0), error(nil)
	if from < to {
		part, own := x.Part(from, to), partOf(t, from, to)
		own.Format = numerics.FixedPoint{}
		if _, err = enginecheck.Load(part, own); err != nil {
			err = fmt.Errorf("of examples %d..%d: %w", from, to-1, err)
		} else {
			maxAbs, _ := engine.MaxAbs(part) // whose values are checked
			most = int64(math.Float32bits(maxAbs))
		}
	}
	if err := e.agree(err); err != nil {
		return t.Format, err
	}
	all := []int64{most}
	if err := e.Max(e.ctx, all); err != nil || t.Use == enginecheck.Scoring {
		return t.Format, err
	}
	return enginecheck.Format(math.Float32frombits(uint32(all[0])), x.N, t.Format)
}

// partOf is the task of examples from..to-1.
func partOf(t enginecheck.Task, from, to int) enginecheck.Task {
	if t.Labels != nil {
		t.Labels = t.Labels[from:to]
	}
	return t
}

// cutFor cuts x for a task.
func (e *shardedEngine) cutFor(x dataset.Examples, t enginecheck.Task) cuts {
	if t.Use == enginecheck.Evaluating {
		return e.cut(x, numerics.Block)
	}
	return e.cut(x, step)
}

func (e unchecked) Load(x dataset.Examples, t enginecheck.Task) (_ engine.Scorer, err error) {
	c, q := e.cutFor(x, t), t.Classes
	if t.Format, err = e.check(x, t, c); err != nil {
		return nil, err
	}
	s, err := e.load(x, t, c)
	if err != nil {
		return nil, err
	}
	switch t.Use {
	case enginecheck.Sorting:
		return &cells{scorer: s, fixed: t.Format, regions: make([]int64, q*q),
			sums:  make([]int64, q*q*x.D),
			fresh: slices.Repeat([]bool{true}, q), // every cell is empty
			norms: make([]float32, q*q), known: make([]bool, q)}, nil
	case enginecheck.Evaluating:
		return &evaluator{scorer: s, fixed: t.Format}, nil
	}
	return &s, nil
}

// load has each engine of this rank load its shard, if it has any examples.
func (e *shardedEngine) load(x dataset.Examples, t enginecheck.Task, c cuts) (scorer, error) {
	s := scorer{e: e, n: x.N, d: x.D, q: t.Classes, cuts: c, x: x, parts: e.parts(c)}
	err := e.agree(s.all(func(i int, p part) (err error) {
		own, examples := partOf(t, p.from, p.to), x.Part(p.from, p.to)
		to := &s.parts[i]
		switch t.Use {
		case enginecheck.Sorting:
			to.cells, err = p.e.LoadCells(examples, own.Labels, own.Classes, own.Format)
			to.s = to.cells
		case enginecheck.Evaluating:
			to.evaluator, err = p.e.LoadEvaluator(examples, own.Classes, own.Format)
			to.s = to.evaluator
		default:
			to.s, err = p.e.Load(examples, own.Classes)
		}
		if err != nil {
			to.s = nil
		}
		return err
	}))
	if err != nil {
		return s, errors.Join(err, s.Close())
	}
	return s, nil
}

// Plan is the sum of what the engines of all ranks need, and the class sums of the whole on each
// besides. If one engine has no limit, the sum has none.
func (e unchecked) Plan(x dataset.Examples, t enginecheck.Task) (sum engine.Plan, err error) {
	c := e.cutFor(x, t)
	if t.Format, err = e.check(x, t, c); err != nil {
		return sum, err
	}
	n := make([]int64, 10)
	for _, p := range e.parts(c) {
		examples, one := x.Part(p.from, p.to), engine.Plan{}
		if t.Use == enginecheck.Evaluating {
			one, err = p.e.PlanEvaluator(examples, t.Classes)
		} else {
			one, err = p.e.Plan(examples, partOf(t, p.from, p.to).Labels, t.Classes)
		}
		if err != nil {
			break
		}
		count := map[bool]int64{true: 1}
		lists.Add(n, []int64{one.Examples, one.Aside, one.Scores, one.ClassSums, one.Scratch, one.Limit,
			int64(one.Tiles), int64(one.TilesAside), count[one.Limit == 0], count[!one.InPlace]})
	}
	if t.Use == enginecheck.Sorting && err == nil {
		whole := memory.Product(8, t.Classes, t.Classes, x.D)
		n[3] = memory.Sum(n[3], whole)
		err = memory.Check(whole, fmt.Sprintf("plan: class sums of the whole, %d × %d cells × %d "+
			"features", t.Classes, t.Classes, x.D))
	}
	if err := e.sum(err, 0, n); err != nil {
		return sum, err
	}
	if n[8] > 0 {
		n[5] = 0
	}
	return engine.Plan{Examples: n[0], Aside: n[1], Scores: n[2], ClassSums: n[3], Scratch: n[4],
		Limit: n[5], Tiles: int(n[6]), TilesAside: int(n[7]), InPlace: n[9] == 0}, nil
}
