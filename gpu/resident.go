//go:build cgo && !noopencl

package gpu

import (
	"errors"
	"fmt"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// resident is a data set in device memory. The lay-outs are those that
// kernels/contract.cl describes.
type resident struct {
	e       *gpuEngine
	n, d, q int
	fixed   numerics.FixedPoint
	tiles   []tile

	mostRows int // of a tile

	// Room for one tile's worth of what passes between host and device.
	ints    *buffer[int32]   // triples of moved examples, or predictions
	weights *buffer[float32] // rows of W, as many as fit
	classes *buffer[int32]   // the classes they belong to

	cells  *cells // nil without labels
	closed bool
}

// tile is a range of consecutive examples that fits into single buffers.
type tile struct {
	from, rows int
	stride     int              // rows rounded up to whole blocks
	x          *buffer[float32] // dense examples, else nil
	sparse     *sparseTile      // sparse examples, else nil
	scores     *buffer[float32]
	place      *buffer[int32] // nil without labels
}

// example returns which example is in row r of the tile's scores and places.
func (t tile) example(r int) int {
	if t.sparse != nil {
		r = int(t.sparse.order[r])
	}
	return t.from + r
}

func newResident(e *gpuEngine, x dataset.Examples, y []int32, classes int, fixed numerics.FixedPoint) (r *resident, err error) {
	r = &resident{e: e, n: x.N, d: x.D, q: classes, fixed: fixed}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.free())
			r = nil
		}
	}()
	// The widest of what a tile holds per example: features, scores, triples.
	width := max(classes, 3)
	if !x.Sparse() {
		width = max(width, x.D)
	}
	rows, err := e.fit("a block of examples", lanes, 4*width)
	if err != nil {
		return r, err
	}
	rows = min(rows, 1<<25) * lanes
	for from, t := 0, (tile{}); from < x.N; from += t.rows {
		t = tile{from: from, rows: min(rows, x.N-from)}
		if x.Sparse() {
			if t.rows, err = e.fitSparse(x, from, t.rows); err != nil {
				return r, err
			}
		}
		t.stride = (t.rows + lanes - 1) / lanes * lanes
		r.mostRows = max(r.mostRows, t.rows)
		err := r.loadTile(&t, x, y != nil)
		r.tiles = append(r.tiles, t)
		if err != nil {
			return r, err
		}
	}
	batch, err := e.fit("a row of the weights", 1, 4*x.D)
	if err != nil {
		return r, err
	}
	batch = min(batch, classes)
	if r.weights, err = alloc[float32](e.q, "weights", batch*x.D); err != nil {
		return r, err
	}
	if r.classes, err = alloc[int32](e.q, "classes", batch); err != nil {
		return r, err
	}
	if r.ints, err = alloc[int32](e.q, "moved examples", 3*r.mostRows); err != nil {
		return r, err
	}
	if y != nil {
		if r.cells, err = newCells(r, y); err != nil {
			return r, err
		}
	}
	return r, nil
}

// fit returns how many groups of count things of size bytes fit into one buffer.
func (e *gpuEngine) fit(what string, count, size int) (int, error) {
	n := e.maxAlloc / (int64(count) * int64(size))
	if n < 1 {
		return 0, fmt.Errorf("%w: %s takes %d bytes, one allocation may have %d", engine.ErrMemory, what, int64(count)*int64(size), e.maxAlloc)
	}
	return int(n), nil
}

// loadTile allocates a tile's buffers and uploads its examples, interleaved. It
// leaves what it has allocated in t, also when it fails.
func (r *resident) loadTile(t *tile, x dataset.Examples, labelled bool) (err error) {
	q := r.e.q
	if t.scores, err = alloc[float32](q, "scores", t.stride*r.q); err != nil {
		return err
	}
	if err := t.scores.fill(0); err != nil {
		return err
	}
	if labelled {
		if t.place, err = alloc[int32](q, "places", t.rows); err != nil {
			return err
		}
		if err := t.place.fill(-1); err != nil {
			return err
		}
	}
	if x.Sparse() {
		t.sparse, err = loadSparse(r.e, x, t.from, t.rows)
		return err
	}
	if t.x, err = alloc[float32](q, "examples", t.stride*r.d); err != nil {
		return err
	}
	// Through a staging area of some blocks, each filled from 16 rows at once.
	const staged = 16
	stage := make([]float32, 0, staged*lanes*r.d)
	for first := 0; first < t.stride; first += staged * lanes {
		stage = stage[:0]
		for block := first; block < min(first+staged*lanes, t.stride); block += lanes {
			stage = r.interleave(stage, x, t.from+block, min(lanes, t.rows-block))
		}
		if err := t.x.write(first*r.d, stage); err != nil {
			return err
		}
	}
	return nil
}

// interleave appends one block to stage: the given number of examples from first
// on, column by column, and zeros in the lanes beyond them.
func (r *resident) interleave(stage []float32, x dataset.Examples, first, rows int) []float32 {
	var row [lanes][]float32
	for l := range rows {
		row[l] = x.Row(first + l)
	}
	for j := range r.d {
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

// free gives all device memory back.
func (r *resident) free() error {
	var errs []error
	for _, t := range r.tiles {
		errs = append(errs, t.x.free(), t.sparse.free(), t.scores.free(), t.place.free())
	}
	errs = append(errs, r.ints.free(), r.weights.free(), r.classes.free(), r.cells.free())
	return errors.Join(errs...)
}

func (r *resident) Close() error {
	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	if r.e.program == nil {
		return nil // the engine went first and took the memory with it
	}
	return r.free()
}

// enter locks the engine for one operation; the caller unlocks r.e.mu.
func (r *resident) enter(op string) error {
	r.e.mu.Lock()
	if r.closed || r.e.program == nil {
		r.e.mu.Unlock()
		return fmt.Errorf("%s: %w", op, engine.ErrClosed)
	}
	return nil
}

func (r *resident) Shape() (n, d, q int)            { return r.n, r.d, r.q }
func (r *resident) FixedPoint() numerics.FixedPoint { return r.fixed }

func (r *resident) Rescore(w engine.Weights, classes []int) error {
	if err := r.enter("rescore"); err != nil {
		return err
	}
	defer r.e.mu.Unlock()
	if err := engine.CheckRescore(w, classes, r.d, r.q); err != nil {
		return err
	}
	for len(classes) > 0 {
		batch := classes[:min(len(classes), r.classes.n)]
		classes = classes[len(batch):]
		if err := r.rescore(w, batch); err != nil {
			return fmt.Errorf("rescore: %w", err)
		}
	}
	return nil
}

func (r *resident) rescore(w engine.Weights, classes []int) error {
	packed, index := make([]float32, 0, len(classes)*r.d), make([]int32, len(classes))
	for i, c := range classes {
		packed = append(packed, w.Row(c)...)
		index[i] = int32(c)
	}
	if err := r.weights.write(0, packed); err != nil {
		return err
	}
	if err := r.classes.write(0, index); err != nil {
		return err
	}
	for _, t := range r.tiles {
		if err := r.scoreTile(t, len(classes)); err != nil {
			return err
		}
	}
	return nil
}

// scoreTile scores the first m classes of r.classes, two by two.
func (r *resident) scoreTile(t tile, m int) error {
	if s := t.sparse; s != nil {
		return r.e.scoreSparse.launch(t.rows, (m+1)/2,
			s.columns, s.values, s.slices, s.lengths, r.weights, r.classes, t.scores, uint64(t.stride), int32(t.rows), int32(r.d), int32(m))
	}
	blocks := t.stride / r.e.vec
	return r.e.score.launch(blocks, (m+1)/2,
		t.x, r.weights, r.classes, t.scores, uint64(blocks), int32(r.d), int32(m))
}

func (r *resident) Scores(dst []float32, from, to int) error {
	if err := r.enter("scores"); err != nil {
		return err
	}
	defer r.e.mu.Unlock()
	if err := engine.CheckScores(dst, from, to, r.n, r.q); err != nil {
		return err
	}
	var line []float32
	for _, t := range r.tiles {
		first, last := max(from, t.from), min(to, t.from+t.rows)
		if first >= last {
			continue
		}
		// The rows to read: those of a sparse tile are in another order.
		row, rows := first-t.from, last-first
		if t.sparse != nil {
			row, rows = 0, t.rows
		}
		line = slices.Grow(line[:0], rows)[:rows]
		for c := range r.q {
			if err := t.scores.read(line, c*t.stride+row); err != nil {
				return fmt.Errorf("scores: %w", err)
			}
			for k, s := range line {
				if i := t.example(row + k); i >= first && i < last {
					dst[(i-from)*r.q+c] = s
				}
			}
		}
	}
	return nil
}

func (r *resident) Predict(dst []int32) error {
	if err := r.enter("predict"); err != nil {
		return err
	}
	defer r.e.mu.Unlock()
	if err := engine.CheckLen("predict", "dst", len(dst), r.n); err != nil {
		return err
	}
	for _, t := range r.tiles {
		err := r.e.predict.launch(t.rows, 1, t.scores, r.ints, uint64(t.stride), int32(t.rows), int32(r.q))
		if err != nil {
			return fmt.Errorf("predict: %w", err)
		}
		part := dst[t.from : t.from+t.rows]
		if err := r.ints.read(part, 0); err != nil {
			return fmt.Errorf("predict: %w", err)
		}
		if t.sparse != nil {
			for k, class := range slices.Clone(part) {
				dst[t.example(k)] = class
			}
		}
	}
	return nil
}
