package shard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// NewGroup returns the Reducers of goroutines of this process, one for each rank.
func NewGroup(ranks int) []Reducer {
	g := &localGroup{ended: make(chan struct{})}
	all := make([]Reducer, ranks)
	for rank := range all {
		all[rank] = member{g, rank, ranks}
	}
	return all
}

// localGroup is what ranks that are goroutines share.
type localGroup struct {
	mu    sync.Mutex
	next  *meeting      // that not all have come to, or nil
	ended chan struct{} // closed when an error has ended all
	err   error         // why
}

// meeting is one call of all ranks.
type meeting struct {
	what    string // that the first asked for, with its size
	arrived int
	given   [][]byte      // by each rank
	done    chan struct{} // closed when all have come; nothing changes afterwards
}

// member is one rank of a localGroup.
type member struct {
	g           *localGroup
	rank, ranks int
}

func (m member) Rank() (rank, ranks int) { return m.rank, m.ranks }

func (m member) Sum(ctx context.Context, v []int64) error {
	return m.reduce(ctx, "a sum", v, func(a, b int64) int64 { return a + b })
}

func (m member) Max(ctx context.Context, v []int64) error {
	return m.reduce(ctx, "a maximum", v, func(a, b int64) int64 { return max(a, b) })
}

func (m member) reduce(ctx context.Context, what string, v []int64,
	join func(a, b int64) int64) error {
	given, err := m.meet(ctx, fmt.Sprintf("%s of %d numbers", what, len(v)), bytesOf(v))
	if err != nil || len(v) == 0 {
		return err
	}
	other := make([]int64, len(v))
	for rank, b := range given {
		if rank != m.rank {
			copy(bytesOf(other), b)
			for i, n := range other {
				v[i] = join(v[i], n)
			}
		}
	}
	return nil
}

func (m member) Broadcast(ctx context.Context, b []byte, root int) error {
	given, err := m.meet(ctx, fmt.Sprintf("%d bytes of rank %d", len(b), root), b)
	if err == nil {
		copy(b, given[root])
	}
	return err
}

func (m member) Barrier(ctx context.Context) error {
	_, err := m.meet(ctx, "a barrier", nil)
	return err
}

// meet returns what all ranks give to a call.
func (m member) meet(ctx context.Context, what string, mine []byte) ([][]byte, error) {
	g := m.g
	g.mu.Lock()
	if g.next == nil {
		g.next = &meeting{what: what, given: make([][]byte, m.ranks), done: make(chan struct{})}
	}
	at := g.next
	if at.what != what {
		g.end(fmt.Errorf("rank %d asks for %s, another for %s: wanted the same program on the same data",
			m.rank, what, at.what))
	}
	at.given[m.rank] = slices.Clone(mine)
	if at.arrived++; at.arrived == m.ranks && g.err == nil {
		g.next = nil
		close(at.done)
	}
	g.mu.Unlock()
	select {
	case <-at.done:
		return at.given, nil
	case <-g.ended:
	case <-ctx.Done():
		m.Abort(ctx.Err())
	}
	return nil, g.err
}

func (m member) Abort(err error) {
	m.g.mu.Lock()
	defer m.g.mu.Unlock()
	if err == nil {
		err = errors.New("it gave no reason")
	}
	m.g.end(fmt.Errorf("rank %d has ended all: %w", m.rank, err))
}

// end ends all, once; g.mu is held.
func (g *localGroup) end(err error) {
	if g.err == nil {
		g.err = err
		close(g.ended)
	}
}
