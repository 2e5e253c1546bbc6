//go:build cgo && !noopencl

package gpu

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/jgillich/go-opencl/cl"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// loadExamples brings the examples to the device as far as there is room. The
// rest stays in host memory: a device that shares the host's memory uses it in
// place, for another it is streamed through two slots. Dense examples lie in host
// memory as a device wants them, so one that shares it is never given a copy.
func (r *resident) loadExamples(x dataset.Stored) error {
	need, largest := int64(0), int64(0)
	for _, t := range r.tiles {
		need, largest = need+t.bytes(r.d), max(largest, t.bytes(r.d))
		if s := t.sparse; s != nil {
			var err error
			if s.slices, err = upload(r.e.q, "slices", s.starts); err != nil {
				return err
			}
			if s.lengths, err = upload(r.e.q, "row lengths", s.stored); err != nil {
				return err
			}
			if c := s.byColumn; c != nil {
				if c.segments, err = upload(r.e.q, "segments of columns", c.cuts); err != nil {
					return err
				}
				if c.order, err = upload(r.e.q, "order of rows", s.order); err != nil {
					return err
				}
			}
		}
	}
	inPlace := r.e.shares && r.tiles[0].sparse == nil
	stream := r.e.streams(need, r.e.q.inUse) && !inPlace
	if inPlace && r.window > 0 {
		r.slots = []*slot{{}, {}} // which need no room: a kernel waits for the last but one
	}
	if stream && !r.e.shares {
		for range 2 {
			s, err := r.newSlot(largest)
			r.slots = append(r.slots, s)
			if err != nil {
				return err
			}
		}
	}
	for _, t := range r.tiles {
		aside := stream && r.e.aside(t, r.d, r.e.q.inUse)
		if err := r.load(t, x, aside); err != nil {
			return err
		}
	}
	return nil
}

// load fills the arrays of a tile, on the device or aside in host memory.
func (r *resident) load(t *tile, x dataset.Stored, aside bool) (err error) {
	q := r.e.q
	switch {
	case t.sparse != nil:
		if err := r.loadSparse(t, x, aside); err != nil || t.sparse.byColumn == nil {
			return err
		}
		return t.sparse.byColumn.load(r, t, aside)
	case t.width != 0:
		return r.loadNarrow(t, x, aside)
	case r.e.shares: // they are where they should be
		t.values.host = t.dense(x.Examples)
		t.inFile = r.window > 0
		r.pin(unsafe.Pointer(&t.values.host[0]))
		t.values.dev, err = share(q, "examples", t.values.host)
	case aside:
		t.values.host = t.dense(x.Examples)
	default:
		t.values.dev, err = upload(q, "examples", t.dense(x.Examples))
	}
	return err
}

// loadNarrow is load for narrow examples.
func (r *resident) loadNarrow(t *tile, x dataset.Stored, aside bool) (err error) {
	q := r.e.q
	switch {
	case r.e.shares:
		t.codes.host = t.narrow(x)
		r.pin(unsafe.Pointer(&t.codes.host[0]))
		t.codes.dev, err = share(q, "examples", t.codes.host)
	case aside:
		t.codes.host = t.narrow(x)
	default:
		t.codes.dev, err = upload(q, "examples", t.narrow(x))
	}
	return err
}

// loadSparse is load for sparse examples, whose order on the device is another.
func (r *resident) loadSparse(t *tile, x dataset.Stored, aside bool) (err error) {
	q := r.e.q
	if !aside {
		columns, values := make([]int32, t.sparse.padded), make([]float32, t.sparse.padded)
		t.fillSparse(x.Examples, columns, values)
		if t.sparse.columns.dev, err = upload(q, "columns", columns); err != nil {
			return err
		}
		t.values.dev, err = upload(q, "values", values)
		return err
	}
	t.values.owned, t.sparse.columns.owned = true, true
	if t.values.host, err = newHost[float32](t.sparse.padded); err != nil {
		return err
	}
	if t.sparse.columns.host, err = newHost[int32](t.sparse.padded); err != nil {
		return err
	}
	t.fillSparse(x.Examples, t.sparse.columns.host, t.values.host)
	if !r.e.shares {
		return nil
	}
	if t.sparse.columns.dev, err = share(q, "columns", t.sparse.columns.host); err != nil {
		return err
	}
	t.values.dev, err = share(q, "examples", t.values.host)
	return err
}

// slot is room on the device for one tile that is streamed. While a kernel reads
// one slot, the host fills the other.
type slot struct {
	arrays
	done chan error // of the kernel that reads the slot; nil if there is none
}

func (r *resident) newSlot(bytes int64) (s *slot, err error) {
	s, q := &slot{}, r.e.q
	switch {
	case r.tiles[0].width != 0:
		s.codes, err = alloc[uint8](q, "slot", int(bytes))
		return s, err
	case r.tiles[0].sparse == nil:
		s.values, err = alloc[float32](q, "slot", int(bytes/4))
		return s, err
	}
	padded, stored := mostSparse(r.tiles)
	if s.values, err = alloc[float32](q, "slot", padded); err != nil {
		return s, err
	}
	if s.columns, err = alloc[int32](q, "slot", padded); err != nil {
		return s, err
	}
	if r.tiles[0].sparse.byColumn != nil {
		if s.byColumn, err = alloc[float32](q, "slot", stored); err != nil {
			return s, err
		}
		if s.examples, err = alloc[int32](q, "slot", stored); err != nil {
			return s, err
		}
	}
	if s.slices, err = alloc[int32](q, "slot", (r.mostRows+lanes-1)/lanes); err != nil {
		return s, err
	}
	s.lengths, err = alloc[int32](q, "slot", r.mostRows)
	return s, err
}

func (s *slot) free() error {
	if s == nil {
		return nil
	}
	return errors.Join(s.wait(), s.values.free(), s.codes.free(), s.columns.free(), s.slices.free(),
		s.lengths.free(), s.byColumn.free(), s.examples.free())
}

// wait waits for the kernel that reads the slot.
func (s *slot) wait() error {
	if s.done == nil {
		return nil
	}
	err := <-s.done
	s.done = nil
	return err
}

// run has f enqueue a kernel that reads the slot, or what is used in its stead. Waiting
// for it at once, in the background, also makes the device begin.
func (s *slot) run(f func(arrays) (*cl.Event, error), a arrays) error {
	event, err := f(a)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	s.done = done
	go func() {
		err := cl.WaitForEvents([]*cl.Event{event})
		event.Release()
		done <- err
	}()
	return nil
}

// onDevice calls f with the examples of a tile where a kernel can read them; f
// enqueues one kernel and returns its event.
func (r *resident) onDevice(t *tile, f func(arrays) (*cl.Event, error)) error {
	switch {
	case t.inFile:
		return r.inSlot(func(s *slot) error {
			r.x.Pages().Fetch(t.from, t.from+t.rows)
			return s.run(f, t.arrays())
		})
	case !t.streamed():
		return done(f(t.arrays()))
	}
	return r.inSlot(func(s *slot) error {
		if r.window > 0 {
			r.x.Pages().Fetch(t.from, t.from+t.rows)
		}
		if t.sparse != nil {
			if err := s.columns.writeAside(t.sparse.columns.host); err != nil {
				return err
			}
			a := arrays{values: s.values, columns: s.columns, slices: t.sparse.slices,
				lengths: t.sparse.lengths, byColumn: s.byColumn, examples: s.examples}
			if c := t.sparse.byColumn; c != nil {
				if err := errors.Join(s.byColumn.writeAside(c.values.host),
					s.examples.writeAside(c.examples.host)); err != nil {
					return err
				}
			}
			if err := s.values.writeAside(t.values.host); err != nil {
				return err
			}
			return s.run(f, a)
		}
		if err := errors.Join(s.values.writeAside(t.values.host),
			s.codes.writeAside(t.codes.host)); err != nil {
			return err
		}
		return s.run(f, s.arrays)
	})
}

// onListed is onDevice for a kernel that reads the listed rows of a dense tile alone. Few of a
// tile that is streamed are brought to the device without the others: local is 1 then, and row k
// of what f is called with is rows[k].
func (r *resident) onListed(t *tile, rows []int32, f func(x arrays, local int32) (*cl.Event,
	error)) error {
	few := len(rows) <= t.rows/4
	switch {
	case t.streamed() && few:
		return r.gather(t, rows, func(x arrays) (*cl.Event, error) { return f(x, 1) })
	case t.inFile:
		return r.inSlot(func(s *slot) error {
			r.fetchRows(t, rows)
			return s.run(func(x arrays) (*cl.Event, error) { return f(x, 0) }, t.arrays())
		})
	}
	return r.onDevice(t, func(x arrays) (*cl.Event, error) { return f(x, 0) })
}

// fetchRows reads some rows of a dense tile from the file that they lie in.
func (r *resident) fetchRows(t *tile, rows []int32) {
	r.x.Pages().FetchSome(t.from, t.from+t.rows, len(rows), func(k int) int {
		return t.from + int(rows[k])
	})
}

// inSlot calls f with the slot that has been idle for longest.
func (r *resident) inSlot(f func(*slot) error) error {
	s := r.slots[0]
	r.slots[0], r.slots[1] = r.slots[1], s
	if err := s.wait(); err != nil {
		return fmt.Errorf("streamed kernel: %w", err)
	}
	return f(s)
}

// drain waits for all kernels that read slots.
func (r *resident) drain() error {
	var errs []error
	for _, s := range r.slots {
		errs = append(errs, s.wait())
	}
	return errors.Join(errs...)
}

// gather brings a few rows of a streamed tile to a slot, as a small tile of its
// own, and calls f with it. rows increase; row rows[k] becomes row k.
func (r *resident) gather(t *tile, rows []int32, f func(arrays) (*cl.Event, error)) error {
	return r.inSlot(func(s *slot) error {
		if r.window > 0 {
			r.fetchRows(t, rows)
		}
		var err error
		switch {
		case t.sparse != nil:
			err = s.gatherSparse(t, rows)
		case t.width != 0:
			err = s.codes.writeAside(gathered(t.codes.host, rows, t.width*r.d))
		default:
			err = s.values.writeAside(gathered(t.values.host, rows, r.d))
		}
		if err != nil {
			return err
		}
		return s.run(f, s.arrays)
	})
}

// gathered returns some rows of d values.
func gathered[T element](values []T, rows []int32, d int) []T {
	some := make([]T, 0, len(rows)*d)
	for _, row := range rows {
		some = append(some, values[int(row)*d:(int(row)+1)*d]...)
	}
	return some
}

// gatherSparse is gather's part for sparse examples. Rows increase, so their
// lengths fall as those of the tile do, and the slot has room for them.
func (s *slot) gatherSparse(t *tile, rows []int32) error {
	lengths := make([]int32, len(rows))
	for k, row := range rows {
		lengths[k] = t.sparse.stored[row]
	}
	starts, padded := slice(lengths)
	columns, values := make([]int32, padded), make([]float32, padded)
	for k, row := range rows {
		for v := range int(lengths[k]) {
			from, to := place(t.sparse.starts, int(row), v), place(starts, k, v)
			columns[to], values[to] = t.sparse.columns.host[from], t.values.host[from]
		}
	}
	return errors.Join(s.columns.writeAside(columns), s.values.writeAside(values),
		s.slices.writeAside(starts), s.lengths.writeAside(lengths))
}

// localRows lists the rows that a list of moves names, increasing, and returns
// the list with each row replaced by its place among them.
func localRows(list []int32) (rows, local []int32) {
	for _, entry := range list {
		rows = append(rows, max(entry, ^entry))
	}
	slices.Sort(rows)
	rows = slices.Compact(rows)
	local = make([]int32, len(list))
	for n, entry := range list {
		k, _ := slices.BinarySearch(rows, max(entry, ^entry))
		local[n] = int32(k)
		if entry < 0 {
			local[n] = ^local[n]
		}
	}
	return rows, local
}
