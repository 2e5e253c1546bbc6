package file

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/internal/fileerr"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// spillFrom is how many bytes of segments are kept in memory before they go to a file.
var spillFrom = 64 << 20

// spill puts segments into a file, once they are worth it, if Options.Spill says so.
func (b *builder) spill() error {
	held := 0
	for _, g := range b.segments[b.here:] {
		held += g.bytes()
	}
	if held < spillFrom || !b.spills() {
		return nil
	}
	b.needScratch()
	for k := b.here; k < len(b.segments) && b.scratch != nil; k++ {
		var err error
		if b.segments[k], err = b.segments[k].away(b.scratch); err != nil {
			return b.fatal(err)
		}
	}
	b.here = len(b.segments)
	return nil
}

// spilled is the Home of examples in files without names.
type spilled struct{ *store.Scratch }

// Close gives the files back.
func (s spilled) Close() error {
	s.Scratch.Close()
	return nil
}

// ReadOnly is false.
func (spilled) ReadOnly() bool { return false }

func (b *builder) spills() bool {
	return b.o.Spill && store.CanReserve && b.o.block == nil
}

// needScratch makes the scratch. Where no file can be made, memory is asked, which may be enough.
func (b *builder) needScratch() {
	if b.scratch == nil {
		s, err := store.NewScratch(b.src.path)
		if err != nil {
			b.o.Spill = false
			return
		}
		b.scratch = s
	}
}

// roomy makes sure that so many bytes are not asked of memory if they need not be.
func (b *builder) roomy(bytes int) {
	if bytes >= spillFrom && b.spills() {
		b.needScratch()
	}
}

// away returns a segment whose values are in the file of s, where those of g were written.
func (g segment) away(s *store.Scratch) (segment, error) {
	at, err := s.Away(store.Bytes(g.x), store.Bytes(g.counts), store.Bytes(g.columns),
		store.Bytes(g.values))
	if err != nil {
		return g, err
	}
	return segment{rows: g.rows, width: g.width, stored: len(g.values), dense: g.x != nil,
		from: s.File, at: at}, nil
}

// back returns a segment with its values in memory.
func (g segment) back() (segment, error) {
	if g.from == nil {
		return g, nil
	}
	b := segment{rows: g.rows, width: g.width}
	var parts [][]byte
	if g.dense {
		b.x = make([]float32, g.rows*g.width)
		parts = [][]byte{store.Bytes(b.x)}
	} else {
		b.counts, b.columns, b.values = make([]int32, g.rows), make([]int32, g.stored), make([]float32,
			g.stored)
		parts = [][]byte{store.Bytes(b.counts), store.Bytes(b.columns), store.Bytes(b.values)}
	}
	at := g.at
	for _, part := range parts {
		if _, err := g.from.ReadAt(part, at); err != nil {
			return g, fmt.Errorf("temporary file: %w", fileerr.Cause(err))
		}
		at += int64(len(part))
	}
	return b, nil
}
