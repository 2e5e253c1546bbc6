package shard_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/enginetest"
	"github.com/uma-gpu/uma-gpu/host/engine/shard"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// onRanks has each rank do something, and returns their errors. A rank that returns
// one ends all.
func onRanks(count int, do func(rank int, r shard.Reducer) error) []error {
	errs := make([]error, count)
	var wg sync.WaitGroup
	for rank, r := range shard.NewGroup(count) {
		wg.Go(func() {
			if errs[rank] = do(rank, r); errs[rank] != nil {
				r.Abort(errs[rank])
			}
		})
	}
	wg.Wait()
	return errs
}

// TestRanksConformance: each rank of several finds what the contract says, though it computes on a
// part of the examples; one of them may have two drivers, another none of the examples.
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
					drivers := []engine.Driver{simd.NewDriver(), cpuref.Driver{}}[:len(shares[rank])]
					d, err := shard.Ranks(t.Context(), r, drivers, shares[rank])
					if err != nil {
						return err
					}
					e := engine.New(d)
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
		one := simd.NewDriver()
		if rank == 2 { // which has the few examples
			one = breaking{one}
		}
		d, err := shard.Ranks(t.Context(), r, []engine.Driver{one}, nil)
		if err != nil {
			return err
		}
		cells, err := enginetest.Small(engine.New(d))
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
		if err == nil || !strings.Contains(err.Error(), errBroken.Error()) || errors.Is(err,
			errBroken) != (rank == 2) || strings.Contains(err.Error(), "rank 2: ") != (rank != 2) {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	x, y := few()
	y[2] = 9
	for rank, err := range onRanks(2, func(rank int, r shard.Reducer) error {
		d, err := shard.Ranks(t.Context(), r, []engine.Driver{simd.NewDriver()}, nil)
		if err != nil {
			return err
		}
		_, err = engine.New(d).LoadCells(x, y, 2, numerics.FixedPoint{})
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
	for name, do := range map[string]func(rank int, e *engine.Engine, r shard.Reducer) error{
		"other weights": func(rank int, e *engine.Engine, _ shard.Reducer) error {
			s, err := e.Load(x, 2)
			if err != nil {
				return err
			}
			return s.Rescore(engine.Weights{Q: 2, D: 2, W: []float32{1, 2, 3, float32(rank)}}, []int{0, 1})
		},
		"other margins": func(rank int, e *engine.Engine, _ shard.Reducer) error {
			s, err := e.LoadCells(x, y, 2, numerics.FixedPoint{})
			if err != nil {
				return err
			}
			_, err = s.Assign(float32(rank) / 10)
			return err
		},
		"other calls": func(rank int, e *engine.Engine, r shard.Reducer) error {
			if rank == 1 {
				return r.Barrier(t.Context())
			}
			_, err := e.Load(x, 2)
			return err
		},
		"a rank that ends": func(rank int, e *engine.Engine, _ shard.Reducer) error {
			if rank == 1 {
				return errBroken
			}
			_, err := e.Load(x, 2)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			for rank, err := range onRanks(3, func(rank int, r shard.Reducer) error {
				d, err := shard.Ranks(t.Context(), r, []engine.Driver{simd.NewDriver()}, nil)
				if err != nil {
					return err
				}
				return do(rank, engine.New(d), r)
			}) {
				if err == nil {
					t.Errorf("rank %d: found no error", rank)
				}
			}
		})
	}
}
