package simd

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// littleWork is the work, in units of about a sixteenth of a nanosecond, for
// which it does not pay to wake another processor.
const littleWork = 1 << 20

// worker is what no other task uses while one does.
type worker struct {
	floats []float32 // as many as run is asked for
	groups groups
}

// run does all tasks, on as many processors as there are if they are much work.
// Little work is done at once, without a goroutine or an allocation. Each task
// is given a worker with scratch values.
func (r *resident) run(do func(r *resident, task int, own *worker), tasks, work, scratch int) {
	workers := min(runtime.GOMAXPROCS(0), tasks)
	if work < littleWork {
		workers = min(workers, 1)
	}
	for len(r.workers) < workers {
		r.workers = append(r.workers, &worker{})
	}
	for _, w := range r.workers[:workers] {
		w.floats = resize(w.floats, scratch)
	}
	if workers <= 1 {
		for t := range tasks {
			do(r, t, r.workers[0])
		}
		return
	}
	var (
		next atomic.Int64
		wg   sync.WaitGroup
	)
	loop := func(w *worker) {
		for t := int(next.Add(1)) - 1; t < tasks; t = int(next.Add(1)) - 1 {
			do(r, t, w)
		}
	}
	for _, w := range r.workers[1:workers] {
		wg.Go(func() { loop(w) })
	}
	loop(r.workers[0])
	wg.Wait()
}
