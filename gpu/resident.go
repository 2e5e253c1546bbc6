//go:build cgo && !noopencl

package gpu

import (
	"errors"
	"fmt"
	"slices"

	"github.com/jgillich/go-opencl/cl"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// resident is a data set on a device: its scores, places and class sums in device
// memory, its examples as far as there is room.
type resident struct {
	e       *gpuEngine
	n, d, q int
	fixed   numerics.FixedPoint
	tiles   []*tile

	mostRows int // of a tile

	// Room for one tile's worth of what passes between host and device.
	ints    *buffer[int32]   // triples of moved examples, or predictions
	weights *buffer[float32] // rows of W, as many as fit
	classes *buffer[int32]   // the classes they belong to

	cells  *cells  // nil without labels
	slots  []*slot // for tiles that are streamed, else empty
	closed bool
}

func newResident(e *gpuEngine, x dataset.Examples, y []int32, classes int, fixed numerics.FixedPoint) (r *resident, err error) {
	r = &resident{e: e, n: x.N, d: x.D, q: classes, fixed: fixed}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.free())
			r = nil
		}
	}()
	if r.tiles, err = e.cut(x, classes); err != nil {
		return r, err
	}
	for _, t := range r.tiles {
		r.mostRows = max(r.mostRows, t.rows)
	}
	if err := r.allocate(y != nil); err != nil {
		return r, err
	}
	if y != nil {
		if r.cells, err = newCells(r, y); err != nil {
			return r, err
		}
	}
	// The examples come last: those that find no room are streamed.
	return r, r.loadExamples(x)
}

// allocate makes room for all that is not examples or cells.
func (r *resident) allocate(labelled bool) error {
	q := r.e.q
	for k := range r.tiles {
		t, err := r.tiles[k], error(nil)
		if t.scores, err = alloc[float32](q, "scores", t.stride*r.q); err != nil {
			return err
		}
		if err := t.scores.fill(0); err != nil {
			return err
		}
		if !labelled {
			continue
		}
		if t.place, err = alloc[int32](q, "places", t.rows); err != nil {
			return err
		}
		if err := t.place.fill(-1); err != nil {
			return err
		}
	}
	batch, err := fit("a row of the weights", 1, 4*r.d, r.e.maxAlloc)
	if err != nil {
		return err
	}
	batch = min(batch, r.q)
	if r.weights, err = alloc[float32](q, "weights", batch*r.d); err != nil {
		return err
	}
	if r.classes, err = alloc[int32](q, "classes", batch); err != nil {
		return err
	}
	r.ints, err = alloc[int32](q, "moved examples", 3*r.mostRows)
	return err
}

// free gives all memory back, when no kernel uses it any more.
func (r *resident) free() error {
	errs := []error{r.e.q.queue.Finish()}
	for _, t := range r.tiles {
		errs = append(errs, t.free())
	}
	for _, s := range r.slots {
		errs = append(errs, s.free())
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
	return r.drain()
}

// scoreTile scores the first m classes of r.classes, two by two.
func (r *resident) scoreTile(t *tile, m int) error {
	return r.onDevice(t, func(x arrays) (*cl.Event, error) {
		if t.sparse != nil {
			return r.e.scoreSparse.enqueue(t.rows, (m+1)/2, x.columns, x.values, x.slices, x.lengths,
				r.weights, r.classes, t.scores, uint64(t.stride), int32(t.rows), int32(r.d), int32(m))
		}
		blocks := t.stride / r.e.vec
		return r.e.score.enqueue(blocks, (m+1)/2,
			x.values, r.weights, r.classes, t.scores, uint64(blocks), int32(r.d), int32(m))
	})
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
