package shard

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/enginecheck"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// Plan is the sum of what the engines of all ranks need, and the class sums of the whole on each
// besides. If one engine has no limit, the sum has none.
func (e unchecked) Plan(x dataset.Stored, t enginecheck.Task) (sum engine.Plan, err error) {
	c := e.cutFor(x, t)
	if t.Format, err = e.check(x, t, c); err != nil {
		return sum, err
	}
	n := make([]int64, 10)
	for _, p := range e.parts(c) {
		examples, one := x.Rows(p.from, p.to), engine.Plan{}
		if t.Use == enginecheck.Evaluating {
			one, err = p.e.PlanEvaluator(examples, t.Classes)
		} else {
			one, err = p.e.Plan(examples, partOf(t, p.from, p.to).Labels, t.Classes)
		}
		if err != nil {
			break
		}
		count := map[bool]int64{true: 1}
		add(n, []int64{one.Examples, one.Aside, one.Scores, one.ClassSums, one.Scratch, one.Limit,
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
