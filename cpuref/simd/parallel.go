package simd

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// littleWork is the work, in units of about a sixteenth of a nanosecond, for
// which it does not pay to wake another processor.
const littleWork = 1 << 20

// run does all tasks, on as many processors as there are if they are much work.
// Little work is done at once, without a goroutine or an allocation. Each task
// is given scratch values that no other uses meanwhile.
func (r *resident) run(do func(r *resident, task int, scratch []float32), tasks, work, scratch int) {
	workers := min(runtime.GOMAXPROCS(0), tasks)
	if work < littleWork {
		workers = min(workers, 1)
	}
	for len(r.scratch) < workers {
		r.scratch = append(r.scratch, nil)
	}
	for w := range workers {
		r.scratch[w] = resize(r.scratch[w], scratch)
	}
	if workers <= 1 {
		for t := range tasks {
			do(r, t, r.scratch[0])
		}
		return
	}
	var (
		next atomic.Int64
		wg   sync.WaitGroup
	)
	loop := func(scratch []float32) {
		for t := int(next.Add(1)) - 1; t < tasks; t = int(next.Add(1)) - 1 {
			do(r, t, scratch)
		}
	}
	for _, scratch := range r.scratch[1:workers] {
		wg.Go(func() { loop(scratch) })
	}
	loop(r.scratch[0])
	wg.Wait()
}
