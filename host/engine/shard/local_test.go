package shard

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// onRanks has each of count ranks do something, and returns their errors. A rank that returns
// one ends all.
func onRanks(count int, do func(rank int, r Reducer) error) []error {
	errs := make([]error, count)
	var wg sync.WaitGroup
	for rank, r := range NewGroup(count) {
		wg.Go(func() {
			if errs[rank] = do(rank, r); errs[rank] != nil {
				r.Abort(errs[rank])
			}
		})
	}
	wg.Wait()
	return errs
}

// TestGroup: the sums, maxima and bytes of goroutines, one call after the other, and an end to all
// when one is cancelled.
func TestGroup(t *testing.T) {
	for _, ranks := range []int{1, 2, 5} {
		ctx, cancel := context.WithCancel(t.Context())
		for rank, err := range onRanks(ranks, func(rank int, r Reducer) error {
			if me, all := r.Rank(); me != rank || all != ranks {
				return fmt.Errorf("is rank %d of %d", me, all)
			}
			for k := range 50 {
				v, b := []int64{int64(rank), 1 << 40, int64(-k)}, []byte{byte(rank), byte(k)}
				m := []int64{int64(rank), int64(-rank)}
				err := errors.Join(r.Sum(ctx, v), r.Max(ctx, m), r.Broadcast(ctx, b, k%ranks), r.Barrier(ctx))
				if err != nil {
					return err
				}
				all := int64(ranks)
				if v[0] != all*(all-1)/2 || v[1] != all<<40 || v[2] != -all*int64(k) || m[0] != all-1 ||
					m[1] != 0 || b[0] != byte(k%ranks) || b[1] != byte(k) {
					return fmt.Errorf("call %d: found %v, %v, %v", k, v, m, b)
				}
			}
			return nil
		}) {
			if err != nil {
				t.Errorf("rank %d of %d: %v", rank, ranks, err)
			}
		}
		time.AfterFunc(20*time.Millisecond, cancel)
		for rank, err := range onRanks(ranks+1, func(rank int, r Reducer) error {
			if rank == 0 {
				<-ctx.Done()
				return ctx.Err()
			}
			return r.Sum(ctx, []int64{1})
		}) {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled: rank %d of %d: %v", rank, ranks+1, err)
			}
		}
	}
}

var errBroken = errors.New("broken")

// TestAgree: all learn of the first rank's error, with its kind; without one all go on.
func TestAgree(t *testing.T) {
	for rank, err := range onRanks(4, func(rank int, r Reducer) error {
		if err := Agree(t.Context(), r, nil, errBroken); err != nil {
			return err
		}
		var err error
		if rank%2 == 1 {
			err = fmt.Errorf("at %d: %w", rank, errBroken)
		}
		return Agree(t.Context(), r, err, context.Canceled, errBroken)
	}) {
		want := "rank 1: at 1"
		if rank == 1 {
			want = "at 1"
		}
		if !errors.Is(err, errBroken) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("rank %d: %v, want %s and %v", rank, err, want, errBroken)
		}
	}
}

// TestGather: each rank gets the numbers of all, also where a rank has none.
func TestGather(t *testing.T) {
	for rank, err := range onRanks(4, func(rank int, r Reducer) error {
		list := make([]int32, 6)
		ends := []int{0, 1, 1, 3, 3}
		for i := ends[rank]; i < ends[rank+1]; i++ {
			list[2*i], list[2*i+1] = int32(i), int32(-i)
		}
		if err := Gather(t.Context(), r, list, 2, ends); err != nil {
			return err
		}
		if got := fmt.Sprint(list); got != "[0 0 1 -1 2 -2]" {
			return fmt.Errorf("found %s", got)
		}
		return nil
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}
