//go:build linux && cgo && !noopencl

package gpu

import (
	"errors"
	"unsafe"

	"github.com/jgillich/go-opencl/cl"

	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// pinned is two pieces of host memory that a device with memory of its own reads and writes
// directly. Large transfers go through them: while the device copies one piece, the host fills or
// empties the other. They are allocated by the first such transfer.
type pinned struct {
	size int // bytes of each; 0 for none
	all  [2]pinnedPiece
}

type pinnedPiece struct {
	mem    *cl.MemObject
	mapped *cl.MappedMemObject
	busy   *cl.Event // of the transfer under way, or nil
}

// pinnedSize is the size of each piece: a tenth of a millisecond of a fast bus.
const pinnedSize = 4 << 20

// open allocates the pieces, if they are not yet, and reports whether there are any.
func (w *pinned) open(q *queue) bool {
	for k := range w.all {
		if w.size == 0 || w.all[k].mem != nil {
			continue
		}
		mem, err := q.context.CreateEmptyBuffer(cl.MemReadWrite|cl.MemAllocHostPtr, w.size)
		if err == nil {
			var event *cl.Event
			w.all[k].mem = mem
			w.all[k].mapped, event, err = q.queue.EnqueueMapBuffer(mem, true,
				cl.MapFlagRead|cl.MapFlagWrite, 0, w.size, nil)
			err = done(event, err)
		}
		if err != nil { // a driver that has no such memory does without
			w.close(q)
		}
	}
	return w.size > 0
}

func (w *pinned) close(q *queue) {
	for _, each := range w.all {
		if each.mapped != nil {
			done(q.queue.EnqueueUnmapMemObject(each.mem, each.mapped, nil))
		}
		if each.mem != nil {
			each.mem.Release()
		}
	}
	*w = pinned{}
}

// wait waits for the transfer of a piece.
func (w *pinnedPiece) wait() error { return waitFor(&w.busy) }

func (w *pinnedPiece) bytes(n int) []byte { return unsafe.Slice((*byte)(w.mapped.Ptr()), n) }

// copyBytes copies with several processors.
func copyBytes(dst, src []byte) {
	parallel.Ranges(len(src), 1<<18, func(from, to int) { copy(dst[from:to], src[from:to]) })
}

// write copies v to memory of the device from byte at on, and waits until it is there.
func (w *pinned) write(queue *cl.CommandQueue, to *cl.MemObject, at int, v []byte) (err error) {
	for k := 0; len(v) > 0 && err == nil; k++ {
		each, n := &w.all[k%2], min(len(v), w.size)
		if err = each.wait(); err == nil {
			copyBytes(each.bytes(n), v[:n])
			each.busy, err = queue.EnqueueWriteBuffer(to, false, at, n, each.mapped.Ptr(), nil)
		}
		if err == nil {
			err = flush(queue)
		}
		at, v = at+n, v[n:]
	}
	return errors.Join(err, w.all[0].wait(), w.all[1].wait())
}

// read copies memory of the device from byte at on to v.
func (w *pinned) read(queue *cl.CommandQueue, from *cl.MemObject, at int, v []byte) (err error) {
	asked := 0 // bytes
	ask := func(each *pinnedPiece) (err error) {
		n := min(len(v)-asked, w.size)
		if n == 0 {
			return nil
		}
		each.busy, err = queue.EnqueueReadBuffer(from, false, at+asked, n, each.mapped.Ptr(), nil)
		asked += n
		return errors.Join(err, flush(queue))
	}
	err = errors.Join(ask(&w.all[0]), ask(&w.all[1]))
	for k, got := 0, 0; got < len(v) && err == nil; k++ {
		each, n := &w.all[k%2], min(len(v)-got, w.size)
		if err = each.wait(); err == nil {
			copyBytes(v[got:got+n], each.bytes(n))
			got += n
			err = ask(each)
		}
	}
	return errors.Join(err, w.all[0].wait(), w.all[1].wait())
}
