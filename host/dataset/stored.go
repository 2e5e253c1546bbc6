package dataset

import (
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// Rows are examples, plain or in a store: engines take both.
type Rows interface {
	// Stored returns the examples and the store that keeps them.
	Stored() Stored
}

// Stored are examples and the store that keeps them, nil if plain.
type Stored struct {
	Examples
	At *store.Store
}

// Stored returns e, which no store keeps.
func (e Examples) Stored() Stored { return Stored{Examples: e} }

// Stored returns s.
func (s Stored) Stored() Stored { return s }

// Rows returns examples from..to-1 of s, sharing memory.
func (s Stored) Rows(from, to int) Stored {
	if from == 0 && to == s.N {
		return s
	}
	return Stored{Examples: s.Part(from, to), At: s.At.Rows(from, to, s.D)}
}

// Check is Examples.Check, and judges codes.
func (s Stored) Check() error {
	if err := s.Examples.Check(); err != nil || s.At.Narrow() == nil {
		return err
	}
	return s.At.Narrow().Check(s.N, s.D)
}

// Keep is Pick of examples that may not fit in memory: then they lie in a mapped file without a
// name, in $TMPDIR or /var/tmp, until release, which the caller calls also after an error.
func (e Stored) Keep(which []int) (kept Stored, release func(), err error) {
	release = func() {}
	what := fmt.Sprintf("a copy of %d of %d examples", len(which), e.N)
	need := memory.Product(len(which), e.D, 4)
	if e.Sparse() {
		starts := e.shapeOf(which).Starts
		need = memory.Sum(memory.Product(len(starts), 8), memory.Product(int(starts[len(which)]), 8))
	}
	// to be read in the order of the file
	mapped := !e.Sparse() && store.CanReserve && len(which) > 0 && slices.IsSorted(which)
	full := memory.Check(need, what)
	if full == nil && mapped {
		// What follows needs memory too, as do the pages of a file.
		const share = 4
		full = memory.Check(memory.Product(share, len(which), e.D, 4), fmt.Sprintf("%d times %s", share,
			what))
	}
	if full == nil {
		if p, release, ok := e.pickAside(which); ok {
			return p.Stored(), release, nil
		}
		return e.Pick(which).Stored(), release, nil
	}
	if !mapped {
		return kept, release, full
	}
	room := store.Mappings(what)
	all := Examples{N: len(which), D: e.D}
	if all.X, err = store.RoomOf[float32](room, all.N*all.D); err != nil {
		return kept, release, fmt.Errorf("%w, and %w", full, err)
	}
	for k, i := range which {
		copy(all.Row(k), e.Row(i))
	}
	return all.Stored(), room.Close, nil
}

// asideBytes is the least size that is given back at release, small enough for tests.
const asideBytes = 1 << 16

// pickAside is Pick into memory that release gives back at once, which the collector would not,
// with room for one more column; not ok where that does not pay.
func (e Examples) pickAside(which []int) (p Examples, release func(), ok bool) {
	p = Examples{N: len(which), D: e.D}
	size := memory.Product(p.N, e.D+1, 4)
	if !store.CanReserve || e.Sparse() || size < asideBytes {
		return p, nil, false
	}
	raw, err := store.Reserve(int(size), 0, int(size))
	if err != nil {
		return p, nil, false
	}
	p.X = store.View[float32](raw)[:p.N*p.D]
	e.pickInto(p, which)
	return p, func() { store.GiveBack([][]byte{raw}) }, true
}
