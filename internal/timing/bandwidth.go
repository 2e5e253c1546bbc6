package timing

import (
	"bytes"
	"time"

	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// BandwidthBytes is the size of an array that is larger than caches.
const BandwidthBytes = 256 << 20

// Copier is an engine that measures how fast its device copies within its own memory, in
// bytes per second read and written together.
type Copier interface {
	CopyBandwidth() (bytesPerSecond float64, err error)
}

// ReadBandwidth measures how fast all processors together read memory, in bytes
// per second: the best of several searches of an array for a byte that it lacks.
func ReadBandwidth(size int) float64 {
	x := bytes.Repeat([]byte{1}, size) // a page that was never written to is not there
	best := time.Duration(1<<63 - 1)
	for range 12 {
		start := time.Now()
		parallel.Ranges(size, 1<<16, func(from, to int) { bytes.IndexByte(x[from:to], 0) })
		best = min(best, time.Since(start))
	}
	return float64(size) / max(best.Seconds(), 1e-9)
}
