package shard

import (
	"context"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/uma-gpu/uma-gpu/host/engine"
)

// ErrDiffers is what operations return whose ranks do not work on the same: another program, other
// data, other options.
var ErrDiffers = errors.New("ranks work with different numbers")

// ranks is what this rank asks of all.
type ranks struct {
	Reducer
	ctx       context.Context
	rank, all int
	buffer    []int64 // of sum
}

// kinds are the kinds of error that one rank tells the others of, by their index.
var kinds = []error{
	engine.ErrShape, engine.ErrLabel, engine.ErrValue, engine.ErrMemory, engine.ErrClosed, engine.ErrFailed,
}

// agree returns nil if err is nil on all ranks, else the error of one of them: its own on that
// rank, and on the others one with its number, text and kind.
func (r *ranks) agree(err error) error { return r.sum(err, 0) }

// sum makes each number of all the slices the sum over all ranks, and is agree besides. same must
// be the same number on all ranks: else it returns ErrDiffers.
func (r *ranks) sum(err error, same int64, slices ...[]int64) error {
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
		return r.tell(err)
	}
	if r.buffer[1] != same*int64(r.all) {
		err := fmt.Errorf("rank %d of %d: %w, wanted the same program, data and options on all", r.rank, r.all, ErrDiffers)
		r.Abort(err) // not all may have seen it
		return err
	}
	at := heading
	for _, v := range slices {
		at += copy(v, r.buffer[at:])
	}
	return nil
}

// tell has the last of the ranks whose err is not nil tell the others of it.
func (r *ranks) tell(err error) error {
	failed := []int64{-1}
	if err != nil {
		failed[0] = int64(r.rank)
	}
	if e := r.Max(r.ctx, failed); e != nil {
		return errors.Join(err, e)
	}
	root := int(failed[0])
	about, text := []int64{0, 0}, "" // the text's length, and 1 + the index of the kind or 0
	if root == r.rank {
		text = err.Error()
		about[0] = int64(len(text))
		for k, kind := range kinds {
			if errors.Is(err, kind) {
				about[1] = int64(k) + 1
			}
		}
	}
	if e := r.Sum(r.ctx, about); e != nil {
		return errors.Join(err, e)
	}
	b := make([]byte, about[0])
	copy(b, text)
	if e := r.Broadcast(r.ctx, b, root); e != nil {
		return errors.Join(err, e)
	}
	if root == r.rank {
		return err
	}
	return fmt.Errorf("rank %d: %w", root, &told{string(b), int(about[1])})
}

// told is the error of another rank.
type told struct {
	text string
	kind int // 1 + the index in kinds, or 0
}

func (t *told) Error() string { return t.text }

func (t *told) Unwrap() error {
	if t.kind == 0 {
		return nil
	}
	return kinds[t.kind-1]
}

// print is a number that weights with other bits most likely do not have (FNV-1a of the words); 0 if
// there is one rank, which has nobody to compare it with.
func (r *ranks) print(w engine.Weights) int64 {
	if r.all == 1 {
		return 0
	}
	hash := uint64(14695981039346656037)
	for _, v := range w.W {
		hash = (hash ^ uint64(math.Float32bits(v))) * 1099511628211
	}
	return int64(hash)
}

// number is what is gathered.
type number interface{ float32 | int32 }

// gather fills rows of width numbers with those of each rank: rank k has rows ends[k]..ends[k+1]-1.
func gather[T number](r *ranks, rows []T, width int, ends []int) error {
	if r.all == 1 {
		return nil
	}
	for rank := range r.all {
		part := rows[ends[rank]*width : ends[rank+1]*width]
		if len(part) == 0 {
			continue
		}
		b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(part))), len(part)*int(unsafe.Sizeof(part[0])))
		if err := r.Broadcast(r.ctx, b, rank); err != nil {
			return err
		}
	}
	return nil
}
