package shard

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/audit"
)

// group is this rank among all.
type group struct {
	Reducer
	ctx         context.Context
	rank, ranks int
	buffer      []int64 // of sum
}

// kinds are the kinds of error that one rank tells the others, by their index.
var kinds = []error{
	engine.ErrShape, engine.ErrLabel, engine.ErrValue, engine.ErrMemory, engine.ErrClosed,
	engine.ErrFailed, audit.ErrDiffers,
}

// agree returns nil if err is nil on all ranks, else the error of one of them (Agree).
func (g *group) agree(err error) error { return g.sum(err, 0) }

// sum makes each number of all the slices the sum over all ranks, and agrees on err besides. same
// must be the same number on all ranks; else it returns ErrDiffers.
func (g *group) sum(err error, same int64, slices ...[]int64) error {
	if g.ranks == 1 {
		return err
	}
	const heading = 2
	g.buffer = append(g.buffer[:0], 0, same)
	if err != nil {
		g.buffer[0] = 1
	}
	for _, v := range slices {
		g.buffer = append(g.buffer, v...)
	}
	if e := g.Sum(g.ctx, g.buffer); e != nil {
		return errors.Join(err, e)
	}
	if g.buffer[0] > 0 {
		return Agree(g.ctx, g.Reducer, err, kinds...)
	}
	if g.buffer[1] != same*int64(g.ranks) {
		err := fmt.Errorf("rank %d of %d: %w, want the same program, data and options on all", g.rank,
			g.ranks, ErrDiffers)
		g.Abort(err) // not all may have seen it
		return err
	}
	at := heading
	for _, v := range slices {
		at += copy(v, g.buffer[at:])
	}
	return nil
}

// print is a fingerprint of weights (FNV-1a of the words); 0 with one rank, which has nobody to
// compare it with.
func (g *group) print(w engine.Weights) int64 {
	if g.ranks == 1 {
		return 0
	}
	hash := uint64(14695981039346656037)
	for _, v := range w.W {
		hash = (hash ^ uint64(math.Float32bits(v))) * 1099511628211
	}
	return int64(hash)
}
