package timing

import (
	"runtime"
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
// per second: the best of several sums over an array of that many bytes. It reads
// words of 8 bytes, because one addition for each float32 would be bound by the
// additions.
func ReadBandwidth(bytes int) float64 {
	const times = 12
	words := bytes / 8
	x := make([]uint64, words)
	for i := range x {
		x[i] = uint64(i) // a page that was never written to is not there
	}
	workers := parallel.Workers(words, 1)
	sums := make([]uint64, workers)
	best := time.Duration(1<<63 - 1)
	for range times {
		start := time.Now()
		parallel.Cut(words, workers, func(part, from, to int) { sums[part] += sum(x[from:to]) })
		best = min(best, time.Since(start))
	}
	runtime.KeepAlive(sums)
	return float64(8*words) / max(best.Seconds(), 1e-9)
}

// sum adds with eight accumulators, so that no addition waits for another.
func sum(x []uint64) uint64 {
	var a, b, c, d, e, f, g, h uint64
	for len(x) >= 8 {
		a, b, c, d = a+x[0], b+x[1], c+x[2], d+x[3]
		e, f, g, h = e+x[4], f+x[5], g+x[6], h+x[7]
		x = x[8:]
	}
	return a + b + c + d + e + f + g + h
}
