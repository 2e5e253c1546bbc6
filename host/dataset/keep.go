package dataset

import (
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// Keep is Pick of examples that may be too many for memory, which are then kept in a temporary
// file without a name, that is mapped, in the folder $TMPDIR or /var/tmp. Nobody may read them any
// more once release was called, which the caller does, also after an error.
//
// Where ranks share e and which is long and increases, they share what is kept as well: all but a
// few examples next to where it is cut stay on the rank that has them. It takes all ranks.
func (e Stored) Keep(which []int) (kept Stored, release func(), err error) {
	release = func() {}
	if e.At.Shared() != nil {
		return e.keep(which)
	}
	what := fmt.Sprintf("a copy of %d of %d examples", len(which), e.N)
	need := memory.Product(len(which), e.D, 4)
	if e.Sparse() {
		starts := e.startsOf(which)
		need = memory.Sum(memory.Product(len(starts), 8), memory.Product(int(starts[len(which)]), 8))
	}
	// to be read in the order of the file
	mapped := !e.Sparse() && store.CanReserve && len(which) > 0 && slices.IsSorted(which)
	full := memory.Check(need, what)
	if full == nil && mapped {
		// What follows needs memory too, and a file that is read from beside it needs pages: the rest is
		// theirs.
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

// asideBytes is from how many bytes on what is kept is given back at once when nobody wants it: so
// few that tests do.
const asideBytes = 1 << 16

// pickAside is Pick, into memory that is given back on release: the collector would let as much
// again be taken before it looks for what nobody uses. There is room behind the values for a
// column more, as hasRoom asks. It is not ok where that does not pay or cannot be done.
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
