package ranks

import (
	"context"
	"time"
)

// Traffic is what this rank has had added up and sent, and how long that took.
type Traffic struct {
	Calls     int64   `json:"calls"`
	Summed    int64   `json:"summed_bytes"`    // of sums and maxima: what each rank gives, and gets
	Broadcast int64   `json:"broadcast_bytes"` // from one rank to all
	Seconds   float64 `json:"seconds"`         // in calls, waiting for other ranks included
}

// Meter is a Reducer that counts what goes through another one.
type Meter struct {
	Reducer
	traffic Traffic
}

// NewMeter returns r with a count.
func NewMeter(r Reducer) *Meter { return &Meter{Reducer: r} }

// Traffic returns what has gone through so far. It is for the goroutine that makes the calls.
func (m *Meter) Traffic() Traffic { return m.traffic }

func (m *Meter) count(summed, broadcast int, call func() error) error {
	begin := time.Now()
	err := call()
	t := &m.traffic
	t.Calls++
	t.Summed, t.Broadcast = t.Summed+int64(summed), t.Broadcast+int64(broadcast)
	t.Seconds += time.Since(begin).Seconds()
	return err
}

// Sum implements Reducer.
func (m *Meter) Sum(ctx context.Context, v []int64) error {
	return m.count(8*len(v), 0, func() error { return m.Reducer.Sum(ctx, v) })
}

// Max implements Reducer.
func (m *Meter) Max(ctx context.Context, v []int64) error {
	return m.count(8*len(v), 0, func() error { return m.Reducer.Max(ctx, v) })
}

// Broadcast implements Reducer.
func (m *Meter) Broadcast(ctx context.Context, b []byte, root int) error {
	return m.count(0, len(b), func() error { return m.Reducer.Broadcast(ctx, b, root) })
}

// Barrier implements Reducer.
func (m *Meter) Barrier(ctx context.Context) error {
	return m.count(0, 0, func() error { return m.Reducer.Barrier(ctx) })
}
