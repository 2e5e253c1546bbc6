package shard

import (
	"errors"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/ranks"
	"github.com/uma-gpu/uma-gpu/internal/enginecheck"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// Project: each engine maps its examples (clause 13).
func (e unchecked) Project(dst []float32, x dataset.Stored, p engine.Projection) error {
	c, width := e.cut(x, step), p.Width()
	sound := x.N > 0 && (x.Shared() || x.Check() == nil) && width > 0
	if e.all == 1 || !sound || len(dst)/width != x.N || len(dst)%width != 0 {
		if err := enginecheck.Project(dst, x, p); err != nil {
			return err
		}
	}
	parts := e.parts(c)
	errs := make([]error, len(parts))
	parallel.Share(len(parts), len(parts), func(_, i int) {
		s := parts[i]
		errs[i] = s.e.Project(dst[s.from*width:s.to*width], x.Rows(s.from, s.to), p)
	})
	if err := e.agree(errors.Join(errs...)); err != nil {
		return err
	}
	return ranks.Gather(e.ctx, e.Reducer, dst, width, e.byRank(c))
}
