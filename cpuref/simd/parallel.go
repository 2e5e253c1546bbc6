package simd

import "github.com/uma-gpu/uma-gpu/internal/parallel"

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
	workers := 1
	if work >= littleWork {
		workers = parallel.Workers(tasks, 1)
	}
	for len(r.workers) < workers {
		r.workers = append(r.workers, &worker{})
	}
	for _, w := range r.workers[:workers] {
		w.floats = resize(w.floats, scratch)
	}
	if workers == 1 {
		for t := range tasks {
			do(r, t, r.workers[0])
		}
		return
	}
	parallel.Share(workers, tasks, func(worker, task int) { do(r, task, r.workers[worker]) })
}
