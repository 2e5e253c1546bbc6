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
func (e *gpuEngine) CopyBandwidth() (bytesPerSecond float64, err error) {
	err = e.Do("copy bandwidth", func() error {
		bytesPerSecond, err = e.copyBandwidth()
		return err
	})
	return bytesPerSecond, err
}

func (e *gpuEngine) copyBandwidth() (bytesPerSecond float64, err error) {
	const most = 256 << 20
	size := max(leastBuffer, min(most, e.maxAlloc, (e.q.memory-e.q.inUse)/4)/4*4)
	var buffers [2]*buffer[float32]
	defer func() { err = errors.Join(err, buffers[0].free(), buffers[1].free()) }()
	for k := range buffers {
		if buffers[k], err = alloc[float32](e.q, "bandwidth test", int(size/4)); err != nil {
			return 0, err
		}
		// An operating system gives a page of memory when it is first written to. Writing to both
		// buffers before the copies are timed keeps that out of the measurement.
		if err := buffers[k].fill(1); err != nil {
			return 0, err
		}
	}
	// Each round times several copies in a row, so that the time of starting one hardly counts.
	const rounds, copies = 6, 8
	best := time.Duration(1<<63 - 1)
	for range rounds {
		start := time.Now()
		for range copies {
			if err := done(e.q.queue.EnqueueCopyBuffer(buffers[0].mem, buffers[1].mem, 0, 0, int(size),
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
