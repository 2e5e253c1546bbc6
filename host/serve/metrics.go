package serve

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"
)

// metrics are counted since the start, and written as Prometheus reads them
// (https://prometheus.io/docs/instrumenting/exposition_formats).
type metrics struct {
	mutex         sync.Mutex
	requests      map[int]uint64 // by status
	rows          uint64
	engineSeconds float64
	seconds       histogram // of requests that were answered
	batchRows     histogram
}

// histogram counts values up to each bound, and all.
type histogram struct {
	counts []uint64
	sum    float64
	all    uint64
}

// The bounds of the histograms, in seconds and in rows.
var (
	secondsBounds = []float64{0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5,
		10}
	rowsBounds = []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000}
)

func (h *histogram) add(bounds []float64, v float64) {
	if h.counts == nil {
		h.counts = make([]uint64, len(bounds))
	}
	for k, bound := range bounds {
		if v <= bound {
			h.counts[k]++
		}
	}
	h.sum, h.all = h.sum+v, h.all+1
}

// request counts an answer; rows and time of good ones alone.
func (m *metrics) request(status, rows int, took time.Duration) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.requests == nil {
		m.requests = map[int]uint64{}
	}
	m.requests[status]++
	if rows > 0 {
		m.rows += uint64(rows)
		m.seconds.add(secondsBounds, took.Seconds())
	}
}

// batch counts a call of the engine.
func (m *metrics) batch(rows int, took time.Duration) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.engineSeconds += took.Seconds()
	m.batchRows.add(rowsBounds, float64(rows))
}

func (m *metrics) write(w io.Writer) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	head := func(name, kind, help string) {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	}
	head("uma_gpu_requests_total", "counter", "Requests to predict that were answered, by status.")
	for _, status := range slices.Sorted(maps.Keys(m.requests)) {
		fmt.Fprintf(w, "uma_gpu_requests_total{code=\"%d\"} %d\n", status, m.requests[status])
	}
	for _, c := range []struct {
		name, help string
		value      float64
	}{
		{"uma_gpu_rows_total", "Examples that were predicted.", float64(m.rows)},
		{"uma_gpu_engine_seconds_total", "Time in which the engine predicted.", m.engineSeconds},
	} {
		head(c.name, "counter", c.help)
		fmt.Fprintf(w, "%s %v\n", c.name, c.value)
	}
	head("uma_gpu_request_seconds", "histogram", "Time to read, predict and answer a request.")
	m.seconds.write(w, "uma_gpu_request_seconds", secondsBounds)
	head("uma_gpu_batch_rows", "histogram", "Examples that the engine predicted together.")
	m.batchRows.write(w, "uma_gpu_batch_rows", rowsBounds)
}

func (h *histogram) write(w io.Writer, name string, bounds []float64) {
	for k, bound := range bounds {
		count := uint64(0)
		if h.counts != nil {
			count = h.counts[k]
		}
		fmt.Fprintf(w, "%s_bucket{le=\"%v\"} %d\n", name, bound, count)
	}
	fmt.Fprintf(w, "%s_bucket{le=\"+Inf\"} %d\n%s_sum %v\n%s_count %d\n", name, h.all, name, h.sum,
		name, h.all)
}
