//go:build cgo && !noopencl

package gpu

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/enginecheck"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// Plan goes through the sizes that load allocates; a test keeps the two together.
func (e unchecked) Plan(x dataset.Stored, t enginecheck.Task) (engine.Plan, error) {
	if err := e.checkMemory(x, t); err != nil {
		return engine.Plan{}, err
	}
	p, err := e.sizes(x, t.Classes, t.Use)
	if err != nil {
		return p, fmt.Errorf("%d examples of %d features on %s: %w", x.N, x.D, e.info.ID(), err)
	}
	return p, nil
}

func (e *gpuEngine) sizes(x dataset.Stored, classes int, use enginecheck.Use) (engine.Plan, error) {
	tiles, err := e.cut(x, classes, use)
	if err != nil {
		return engine.Plan{}, err
	}
	p := engine.Plan{Tiles: len(tiles), Limit: e.q.memory, InPlace: e.shares}
	size := func(elements, width int) int64 { return max(int64(elements)*int64(width), leastBuffer) }
	d, q, rows, largest := x.D, classes, 0, int64(0)
	for _, t := range tiles {
		rows = max(rows, t.rows)
		largest = max(largest, t.bytes(d))
		p.Examples += t.bytes(d)
		p.Scores += size(t.stride*q, 4)
		if t.width != 0 {
			p.Scratch += size(t.rows, 4)
		}
		switch use {
		case enginecheck.Sorting:
			p.Scratch += size(t.rows, 4)
		case enginecheck.Evaluating:
			p.Scratch += size(t.stride*q, 4) + size(t.stride, 4)
		}
		if s := t.sparse; s != nil {
			p.Scratch += size(len(s.starts), 4) + size(t.rows, 4)
			if c := s.byColumn; c != nil {
				p.Scratch += size(len(c.cuts), 4) + size(t.rows, 4)
			}
		}
	}
	batch, packed, err := e.weightBatch(x.Sparse(), d, q, use)
	if err != nil {
		return p, err
	}
	p.Scratch += size(packed*d, 4) + size(batch, 4) + size(head+3*rows, 4)
	if tiles[0].width != 0 {
		p.Scratch += size(2*d, 4)
	}
	if use == enginecheck.Evaluating {
		shape, err := e.sumShape(x.Examples, rows, q)
		if err != nil {
			return p, err
		}
		p.Scratch += shape.bytes(d, q, size)
	}
	if use == enginecheck.Sorting {
		per := max(1, min(q, int(e.maxAlloc/(8*int64(d)*int64(q)))))
		for from := 0; from < q; from += per {
			p.ClassSums += size(min(per, q-from)*q*d, 8)
		}
		norms := min(q, int(e.maxAlloc/(4*int64(q)*int64(chunks(d)))))
		vectors := min(vectorsAtOnce(d, q), int(e.maxAlloc/(4*int64(d))))
		room, err := e.moveRoom(x.Sparse(), d, rows)
		if err != nil {
			return p, err
		}
		if room.groups > 0 {
			p.Scratch += size(room.groups*d, 8) + 2*size(2*room.groups, 4)
		}
		p.Scratch += size(room.list, 4) + size(3*min(q*q, room.terms), 4) + size(max(q, 2*vectors), 4) +
			size(q*q, 4) + size(vectors*d, 4) + size(norms*q*chunks(d), 4)
	}
	used := e.q.inUse + p.Scores + p.ClassSums + p.Scratch
	switch {
	case e.shares && !x.Sparse():
		p.TilesAside, p.Aside = len(tiles), p.Examples
	case e.streams(p.Examples, used):
		if !e.shares {
			slots := 2 * size(int(largest), 1)
			if x.Sparse() {
				padded, stored := mostSparse(tiles)
				slots = 2 * (2*size(padded, 4) + size((rows+lanes-1)/lanes, 4) + size(rows, 4))
				if use == enginecheck.Evaluating {
					slots += 4 * size(stored, 4)
				}
			}
			p.Scratch, used = p.Scratch+slots, used+slots
		}
		for _, t := range tiles {
			if e.aside(t, d, used) {
				p.TilesAside++
				p.Aside += t.bytes(d)
			} else {
				used += t.bytes(d)
			}
		}
	}
	if used > e.q.memory {
		return p, fmt.Errorf("%w: %d bytes are needed besides the examples, %d are allowed",
			engine.ErrMemory, used, e.q.memory)
	}
	return p, nil
}

// streams says whether some examples have to stay in host memory, given what all
// of them need and what else is in use.
func (e *gpuEngine) streams(need, used int64) bool {
	return e.build.stream || need > e.q.memory-used
}

// aside says whether a tile stays in host memory, given what is in use.
func (e *gpuEngine) aside(t *tile, d int, used int64) bool {
	return e.build.stream || t.bytes(d) > e.q.memory-used
}

// checkMemory refuses what cannot fit before anything of its size is taken: class sums that
// the device has no room for, and what the process has besides device memory, or together
// with it where they are one.
func (e *gpuEngine) checkMemory(x dataset.Stored, t enginecheck.Task) error {
	q, host := t.Classes, memory.Product(4, x.N, t.Classes)
	if t.Use == enginecheck.Evaluating { // targets and residuals besides scores
		host = memory.Product(3*4, x.N, q)
	}
	if !e.info.SharesMemory {
		host = 0
	}
	if t.Use == enginecheck.Sorting {
		sums, free := memory.Product(8, q, q, x.D), max(0, e.q.memory-e.q.inUse)
		if sums > free {
			return fmt.Errorf("class sums of %d × %d cells × %d features on %s: %w: they take %d bytes, %d "+
				"of %d are free", q, q, x.D, e.info.ID(), engine.ErrMemory, sums, free, e.q.memory)
		}
		if e.info.SharesMemory {
			host += sums
		}
		// tables of cells, weights
		host += memory.Sum(memory.Product(2*8+3*4, q, q), memory.Product(4, q, x.D))
	}
	return memory.Check(host,
		fmt.Sprintf("what %d examples of %d features and %d classes take besides themselves",
			x.N, x.D, q))
}
