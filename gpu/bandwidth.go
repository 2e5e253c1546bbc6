//go:build cgo && !noopencl

package gpu

import (
	"errors"
	"fmt"
	"time"
)

// CopyBandwidth measures how fast the device copies within its own memory, in bytes per
// second read and written together: the best of several copies of up to 256 MiB. The
// memory for it is freed before it returns. Errors: engine.ErrMemory, engine.ErrClosed.
//
// It is no method of engine.Engine: package timing asks for it.
func (e *deviceEngine) CopyBandwidth() (bytesPerSecond float64, err error) {
	err = e.Do("copy bandwidth", func() error {
		bytesPerSecond, err = e.copyBandwidth()
		return err
	})
	return bytesPerSecond, err
}

func (e *deviceEngine) copyBandwidth() (bytesPerSecond float64, err error) {
	const most = 256 << 20
	size := max(leastBuffer, min(most, e.maxAlloc, (e.q.memory-e.q.inUse)/4)/4*4)
	o := buffers{q: e.q}
	defer func() { err = errors.Join(err, o.free()) }()
	// An operating system gives a page of memory when it is first written to. Filling both
	// buffers before the copies are timed keeps that out of the measurement.
	from := filled[float32](&o, "bandwidth test", int(size/4), 1)
	to := filled[float32](&o, "bandwidth test", int(size/4), 1)
	if o.err != nil {
		return 0, o.err
	}
	// Each round times several copies in a row, so that the time of starting one hardly counts.
	const rounds, copies = 6, 8
	best := time.Duration(1<<63 - 1)
	for range rounds {
		start := time.Now()
		for range copies {
			if err := done(e.q.queue.EnqueueCopyBuffer(from.mem, to.mem, 0, 0, int(size),
				nil)); err != nil {
				return 0, fmt.Errorf("copy %d bytes on the device: %w", size, err)
			}
		}
		if err := e.q.queue.Finish(); err != nil {
			return 0, fmt.Errorf("copy %d bytes on the device: %w", size, err)
		}
		best = min(best, time.Since(start))
	}
	return float64(copies*2*size) / max(best.Seconds(), 1e-9), nil
}
