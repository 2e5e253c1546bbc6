package active

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/host/versionspace"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// judgeByHalves fills w for MaxMin and Ratio: of the examples that SVM would ask first, by the
// largest margins that either answer leaves. Of several classes it is the space of the predicted
// one against the rest.
func (p *Pool) judgeByHalves(ctx context.Context, o Options, w *worth) error {
	weights, slack, err := p.centre(ctx, o)
	if err != nil {
		return err
	}
	if err := p.judgeByWeights(o, weights, w); err != nil {
		return err
	}
	order := make([]int, len(w.which))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(w.value[b], w.value[a]) })
	order = order[:min(len(order), max(o.Tried, window*o.K))]
	near := worth{tie: make([]float64, len(order)), value: make([]float64, len(order))}
	for at, k := range order {
		near.which, near.predicted = append(near.which, w.which[k]), append(near.predicted,
			w.predicted[k])
		near.tie[at] = w.value[k]
	}
	*w = near
	s := newSpan(p, slack)
	failed := make([]error, len(order))
	_, task := progress.Begin(ctx, progress.Work{
		Name: "halving version spaces", Unit: "example", Total: int64(len(order))})
	defer task.End()
	parallel.Tasks(len(order), func(at int) {
		defer task.Add(1)
		if failed[at] = ctx.Err(); failed[at] != nil {
			return
		}
		var with, against float64
		if with, against, failed[at] = s.halves(near.which[at], near.predicted[at]); failed[at] != nil {
			return
		}
		near.value[at] = min(with, against)
		if most := max(with, against); o.Strategy == Ratio && most > 0 {
			near.value[at] /= most
		}
	})
	return errors.Join(failed...)
}

// halves returns the largest margin that class r against the rest has, if example i is of class r
// and if it is not. 0 says that no classifier is right about all.
func (s *span) halves(i int, r int32) (with, against float64, err error) {
	row, left := s.project(i)
	if left += s.slack; left > 1e-10*float64(s.p.inner(i, i)+s.slack) {
		row = append(row, math.Sqrt(left))
	} else if len(row) == 0 {
		return 0, 0, nil // zeros: no answer tells anything
	}
	turned := make([]float64, len(row))
	for j, v := range row {
		turned[j] = -v
	}
	if with, err = s.margin(r, row); err != nil {
		return 0, 0, err
	}
	against, err = s.margin(r, turned)
	return with, against, err
}

func (s *span) margin(r int32, row []float64) (float64, error) {
	space, err := s.space(r, len(row), row)
	if err != nil {
		return 0, err
	}
	ball, err := space.Ball()
	if errors.Is(err, versionspace.ErrEmpty) {
		return 0, nil
	}
	return ball.Margin, err
}
