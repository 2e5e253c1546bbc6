package shard

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/audit"
	"github.com/uma-gpu/uma-gpu/host/ranks"
)

// rankGroup is what this rank asks of all.
type rankGroup struct {
	ranks.Reducer
	ctx       context.Context
	rank, all int
	buffer    []int64 // of sum
}

// kinds are the kinds of error that one rank tells the others of, by their index.
var kinds = []error{
	engine.ErrShape, engine.ErrLabel, engine.ErrValue, engine.ErrMemory, engine.ErrClosed,
	engine.ErrFailed,
	audit.ErrDiffers,
}

// agree returns nil if err is nil on all ranks, else that of one of them, as
// ranks.Agree has it.
func (r *rankGroup) agree(err error) error { return r.sum(err, 0) }

// sum makes each number of all the slices the sum over all ranks, and is agree besides. same must
// be the same number on all ranks: else it returns ranks.ErrDiffers.
func (r *rankGroup) sum(err error, same int64, slices ...[]int64) error {
	if r.all == 1 {
		return err
	}
	const heading = 2
	r.buffer = append(r.buffer[:0], 0, same)
	if err != nil {
		r.buffer[0] = 1
	}
	for _, v := range slices {
		r.buffer = append(r.buffer, v...)
	}
	if e := r.Sum(r.ctx, r.buffer); e != nil {
		return errors.Join(err, e)
	}
	if r.buffer[0] > 0 {
		return ranks.Agree(r.ctx, r.Reducer, err, kinds...)
	}
	if r.buffer[1] != same*int64(r.all) {
		err := fmt.Errorf("rank %d of %d: %w, wanted the same program, data and options on all", r.rank,
			r.all, ranks.ErrDiffers)
		r.Abort(err) // not all may have seen it
		return err
	}
	at := heading
	for _, v := range slices {
		at += copy(v, r.buffer[at:])
	}
	return nil
}

// print is a number that weights with other bits most likely do not have (FNV-1a of the words); 0
// if there is one rank, which has nobody to compare it with.
func (r *rankGroup) print(w engine.Weights) int64 {
	if r.all == 1 {
		return 0
	}
	hash := uint64(14695981039346656037)
	for _, v := range w.W {
		hash = (hash ^ uint64(math.Float32bits(v))) * 1099511628211
	}
	return int64(hash)
}
