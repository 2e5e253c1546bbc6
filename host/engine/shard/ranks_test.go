package shard_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/enginetest"
	"github.com/uma-gpu/uma-gpu/host/engine/shard"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// onRanks has each of so many ranks do something, and returns their errors. A rank that returns
// one ends all.
func onRanks(ranks int, do func(rank int, r shard.Reducer) error) []error {
	errs := make([]error, ranks)
	var wg sync.WaitGroup
	for rank, r := range shard.NewGroup(ranks) {
		wg.Go(func() {
			if errs[rank] = do(rank, r); errs[rank] != nil {
				r.Abort(errs[rank])
			}
		})
	}
	wg.Wait()
	return errs
}

// TestRanksConformance: each rank of several finds what the contract says, though it has a part of the
// examples; one of them may have two engines, another none of the examples.
func TestRanksConformance(t *testing.T) {
	cuts := [][][]int{{{1, 3}, {2}, {1}}}
	if *all {
		cuts = append(cuts, [][]int{{1}, {2}}, [][]int{{1}, {1000}, {1}, {1}})
	}
	for _, shares := range cuts {
		for _, c := range cases() {
			if c.Name == enginetest.TogetherCases()[0].Name {
				continue // ranks make one call after the other
			}
			t.Run(fmt.Sprint(len(shares), c.Name), func(t *testing.T) {
				errs := onRanks(len(shares), func(rank int, r shard.Reducer) error {
					engines := []engine.Engine{simd.New(), cpuref.New()}[:len(shares[rank])]
					e, err := shard.Ranks(t.Context(), r, engines, shares[rank])
					if err != nil {
						return err
					}
					return errors.Join(c.Check(e), e.Close())
				})
				if err := errors.Join(errs...); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestRankFails: what fails on one rank fails on all, which say whose error it is and keep its
// kind.
func TestRankFails(t *testing.T) {
	errs := onRanks(3, func(rank int, r shard.Reducer) error {
		one := engine.Engine(simd.New())
		if rank == 2 { // which has the few examples
			one = breaking{one}
		}
		e, err := shard.Ranks(t.Context(), r, []engine.Engine{one}, nil)
		if err != nil {
			return err
		}
		cells, err := enginetest.Small(e)
		if err != nil {
			return err
		}
		_, err = cells.Assign(0)
		if e := enginetest.CheckFailed(cells); e != nil {
			t.Error(e)
		}
		return err
	})
	for rank, err := range errs {
		if err == nil || !strings.Contains(err.Error(), errBroken.Error()) || errors.Is(err, errBroken) != (rank == 2) ||
			strings.HasPrefix(err.Error(), "rank 2: ") != (rank != 2) {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	x, y := few()
	y[2] = 9
	for rank, err := range onRanks(2, func(rank int, r shard.Reducer) error {
		e, err := shard.Ranks(t.Context(), r, []engine.Engine{simd.New()}, nil)
		if err != nil {
			return err
		}
		_, err = e.LoadCells(x, y, 2, numerics.FixedPoint{})
		return err
	}) {
		if !errors.Is(err, engine.ErrLabel) {
			t.Errorf("rank %d: %v, want %v", rank, err, engine.ErrLabel)
		}
	}
}

// TestRanksDiffer: ranks that do not do the same are told, and none waits for ever.
func TestRanksDiffer(t *testing.T) {
	x, y := few()
	for name, do := range map[string]func(rank int, e engine.Engine, r shard.Reducer) error{
		"other weights": func(rank int, e engine.Engine, _ shard.Reducer) error {
			s, err := e.Load(x, 2)
			if err != nil {
				return err
			}
			return s.Rescore(engine.Weights{Q: 2, D: 2, W: []float32{1, 2, 3, float32(rank)}}, []int{0, 1})
		},
		"other margins": func(rank int, e engine.Engine, _ shard.Reducer) error {
			s, err := e.LoadCells(x, y, 2, numerics.FixedPoint{})
			if err != nil {
				return err
			}
			_, err = s.Assign(float32(rank) / 10)
			return err
		},
		"other calls": func(rank int, e engine.Engine, r shard.Reducer) error {
			if rank == 1 {
				return r.Barrier(t.Context())
			}
			_, err := e.Load(x, 2)
			return err
		},
		"a rank that ends": func(rank int, e engine.Engine, _ shard.Reducer) error {
			if rank == 1 {
				return errBroken
			}
			_, err := e.Load(x, 2)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			for rank, err := range onRanks(3, func(rank int, r shard.Reducer) error {
				e, err := shard.Ranks(t.Context(), r, []engine.Engine{simd.New()}, nil)
				if err != nil {
					return err
				}
				return do(rank, e, r)
			}) {
				if err == nil {
					t.Errorf("rank %d: found no error", rank)
				}
			}
		})
	}
}

// TestGroup: the sums, maxima and bytes of goroutines, one call after the other, and an end to all
// when one is cancelled.
func TestGroup(t *testing.T) {
	for _, ranks := range []int{1, 2, 5} {
		ctx, cancel := context.WithCancel(t.Context())
		for rank, err := range onRanks(ranks, func(rank int, r shard.Reducer) error {
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
				if v[0] != all*(all-1)/2 || v[1] != all<<40 || v[2] != -all*int64(k) || m[0] != all-1 || m[1] != 0 ||
					b[0] != byte(k%ranks) || b[1] != byte(k) {
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
		for rank, err := range onRanks(ranks+1, func(rank int, r shard.Reducer) error {
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
