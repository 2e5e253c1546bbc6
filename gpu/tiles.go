//go:build cgo && !noopencl

package gpu

import (
	"errors"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// tile is a range of consecutive examples that fits into single buffers, in the
// lay-out that kernels/contract.cl or, for sparse examples, kernels/sparse.cl
// describes.
type tile struct {
	from, rows int
	stride     int // rows rounded up to whole blocks

	values part[float32] // interleaved features, or the stored values
	sparse *sparseTile   // nil for dense examples

	scores *buffer[float32]
	place  *buffer[int32] // nil without labels
}

// part is a large array of a tile: on the device; in host memory that a device
// uses in place; or in host memory from where it is streamed.
type part[T element] struct {
	dev  *buffer[T] // nil if streamed
	host []T        // nil if on the device; of newHost
}

func (p *part[T]) free() error {
	err := p.dev.free()
	freeHost(p.host)
	p.host = nil
	return err
}

// arrays are the examples of a tile where a kernel can read them; those that
// only sparse examples have are nil for dense ones.
type arrays struct {
	values  *buffer[float32]
	columns *buffer[int32]
	slices  *buffer[int32]
	lengths *buffer[int32]
}

// example returns which example is in row r of the tile's scores and places.
func (t *tile) example(r int) int {
	if t.sparse != nil {
		r = int(t.sparse.order[r])
	}
	return t.from + r
}

// streamed says whether the examples have to be brought to the device for each use.
func (t *tile) streamed() bool { return t.values.dev == nil }

// bytes is what the tile's examples take.
func (t *tile) bytes(d int) int64 {
	if t.sparse != nil {
		return 8 * int64(t.sparse.padded)
	}
	return 4 * int64(t.stride) * int64(d)
}

func (t *tile) free() error {
	return errors.Join(t.values.free(), t.sparse.free(), t.scores.free(), t.place.free())
}

// fit returns how many groups of count things of size bytes fit into limit bytes.
func fit(what string, count, size int, limit int64) (int, error) {
	n := limit / (int64(count) * int64(size))
	if n < 1 {
		return 0, fmt.Errorf("%w: %s takes %d bytes, one allocation may have %d", engine.ErrMemory, what, int64(count)*int64(size), limit)
	}
	return int(n), nil
}

// cut divides examples into tiles, without their buffers: as large as one
// allocation may be, or small ones where not all will find room and some have to
// be streamed.
func (e *gpuEngine) cut(x dataset.Examples, classes int) (tiles []*tile, err error) {
	limit := e.maxAlloc
	if room := e.q.memory - e.q.inUse; e.build.stream || 5*int64(x.Stored())+8*int64(x.N)*int64(classes) > room {
		limit = min(limit, max(room/16, 1<<16))
	}
	// The widest of what a tile holds per example.
	width := max(classes, 3) // scores; triples
	if !x.Sparse() {
		width = max(width, x.D)
	}
	blocks, err := fit("a block of examples", lanes, 4*width, e.maxAlloc)
	if err != nil {
		return nil, err
	}
	if !x.Sparse() {
		blocks = min(blocks, max(1, int(limit/(4*lanes*int64(x.D)))))
	}
	most := min(blocks, 1<<25) * lanes
	for from := 0; from < x.N; {
		t := &tile{from: from, rows: min(most, x.N-from)}
		if x.Sparse() {
			if t.rows, err = fitSparse(x, from, t.rows, limit, e.maxAlloc); err != nil {
				return nil, err
			}
			t.sparse = layOut(x, from, t.rows)
		}
		t.stride = (t.rows + lanes - 1) / lanes * lanes
		tiles = append(tiles, t)
		from += t.rows
	}
	return tiles, nil
}

// interleave calls emit with the tile's dense examples in device lay-out, some
// blocks at a time; at is the place of the first value.
func (t *tile) interleave(x dataset.Examples, emit func(at int, values []float32) error) error {
	d := x.D
	blocks := max(1, 1<<16/(lanes*d)) // a stage of a quarter of a megabyte
	stage := make([]float32, 0, blocks*lanes*d)
	for first := 0; first < t.stride; first += blocks * lanes {
		stage = stage[:0]
		for row := first; row < min(first+blocks*lanes, t.stride); row += lanes {
			stage = appendBlock(stage, x, t.from+row, min(lanes, t.rows-row))
		}
		if err := emit(first*d, stage); err != nil {
			return err
		}
	}
	return nil
}

// appendBlock appends one block to stage: the given number of examples from first
// on, column by column, and zeros in the lanes beyond them.
func appendBlock(stage []float32, x dataset.Examples, first, rows int) []float32 {
	var row [lanes][]float32
	for l := range rows {
		row[l] = x.Row(first + l)
	}
	for j := range x.D {
		for l := range row {
			v := float32(0)
			if l < rows {
				v = row[l][j]
			}
			stage = append(stage, v)
		}
	}
	return stage
}
