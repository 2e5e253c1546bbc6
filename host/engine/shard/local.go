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
	g := &localGroup{ranks: ranks, next: newMeeting(), ended: make(chan struct{})}
	all := make([]Reducer, ranks)
	for rank := range all {
		all[rank] = member{g, rank}
	}
	return all
}

// localGroup is what ranks that are goroutines share.
type localGroup struct {
	ranks int
	mu    sync.Mutex
	next  *meeting      // that not all have come to
	ended chan struct{} // closed when an error has ended all
	err   error         // why
}

// meeting is one call of all ranks.
type meeting struct {
	arrived int
	what    string // that the first asked for, with its size
	numbers []int64
	bytes   []byte
	done    chan struct{} // closed when all have come; nothing changes afterwards
}

func newMeeting() *meeting { return &meeting{done: make(chan struct{})} }

// member is one rank of a localGroup.
type member struct {
	g    *localGroup
	rank int
}

func (m member) Rank() (rank, ranks int) { return m.rank, m.g.ranks }

func (m member) Sum(ctx context.Context, v []int64) error {
	return m.reduce(ctx, "a sum", v, func(a, b int64) int64 { return a + b })
}

func (m member) Max(ctx context.Context, v []int64) error {
	return m.reduce(ctx, "a maximum", v, func(a, b int64) int64 { return max(a, b) })
}

func (m member) reduce(ctx context.Context, what string, v []int64, join func(a,
	b int64) int64) error {
	at, err := m.meet(ctx, fmt.Sprintf("%s of %d numbers", what, len(v)), func(at *meeting) {
		if at.numbers == nil {
			at.numbers = slices.Clone(v)
			return
		}
		for i := range v {
			at.numbers[i] = join(at.numbers[i], v[i])
		}
	})
	if err == nil {
		copy(v, at.numbers)
	}
	return err
}

func (m member) Broadcast(ctx context.Context, b []byte, root int) error {
	at, err := m.meet(ctx, fmt.Sprintf("%d bytes of rank %d", len(b), root), func(at *meeting) {
		if m.rank == root {
			at.bytes = slices.Clone(b)
		}
	})
	if err == nil {
		copy(b, at.bytes)
	}
	return err
}

func (m member) Barrier(ctx context.Context) error {
	_, err := m.meet(ctx, "a barrier", func(*meeting) {})
	return err
}

// meet adds what this rank has to the meeting and waits for the others.
func (m member) meet(ctx context.Context, what string, add func(*meeting)) (*meeting, error) {
	g := m.g
	at, err := g.arrive(m.rank, what, add)
	if err != nil {
		return nil, err
	}
	select {
	case <-at.done:
		return at, nil
	case <-g.ended:
		return nil, g.err
	case <-ctx.Done():
		m.Abort(ctx.Err())
		return nil, g.err
	}
}

func (g *localGroup) arrive(rank int, what string, add func(*meeting)) (*meeting, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return nil, g.err
	}
	at := g.next
	if at.arrived == 0 {
		at.what = what
	}
	if at.what != what {
		g.end(fmt.Errorf("rank %d asks for %s, another for %s: wanted the same program on the same data",
			rank, what, at.what))
		return nil, g.err
	}
	add(at)
	if at.arrived++; at.arrived == g.ranks {
		g.next = newMeeting()
		close(at.done)
	}
	return at, nil
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
