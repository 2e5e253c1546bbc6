package train

import (
	"context"
	"errors"
	"slices"
	"sort"
	"time"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/app"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// passEstimate is how long one pass is expected to take: two classes scored on all
// examples.
type passEstimate struct {
	SecondsPerPass float64     `json:"seconds_per_pass"`
	Measured       measurement `json:"measured"`
	// if the plan streams and Measured does not
	Streamed *measurement `json:"streamed,omitempty"`
}

// measurement is what scoring the first examples took.
type measurement struct {
	Examples       int     `json:"examples"`
	Bytes          int64   `json:"bytes"`
	Aside          int64   `json:"aside_bytes"` // of Bytes, those in host memory
	Seconds        float64 `json:"seconds"`     // median
	BytesPerSecond float64 `json:"bytes_per_second"`
}

const (
	// MeasuredBytes are enough to come from memory and not from a cache.
	MeasuredBytes = 64 << 20
	// streamedBytes are more, since few examples are cut in small tiles, which
	// stream slowly.
	streamedBytes = 256 << 20
)

// Expect measures on the first examples how fast e reads them and scales that to
// the plan of all. Resident and streamed examples have each a speed of their own:
// where the plan streams but the measured examples are resident, reopen opens
// the device again with a limit of memory, in bytes, that makes some of them
// stream.
func Expect(ctx context.Context, e engine.Engine, plan engine.Plan, x dataset.Examples, classes int,
	reopen func(limit int64) (engine.Engine, error)) (_ passEstimate, err error) {
	m, err := measure(ctx, e, FirstExamples(x, MeasuredBytes), classes)
	if err != nil {
		return passEstimate{}, err
	}
	g := passEstimate{Measured: m, SecondsPerPass: float64(plan.Examples) / m.BytesPerSecond}
	if plan.Aside == 0 || plan.InPlace || m.Aside > 0 {
		return g, nil
	}
	first := FirstExamples(x, streamedBytes)
	p, err := e.Plan(first, nil, classes)
	if err != nil {
		return passEstimate{}, err
	}
	limited, err := reopen(p.Scores + p.Scratch + p.Examples/2)
	if err != nil {
		return passEstimate{}, err
	}
	defer func() { err = errors.Join(err, limited.Close()) }()
	s, err := measure(ctx, limited, first, classes)
	if err != nil {
		return passEstimate{}, err
	}
	// What was resident here too took its share of the time.
	if rest := s.Seconds - float64(s.Bytes-s.Aside)/m.BytesPerSecond; s.Aside > 0 && rest > 0 {
		s.BytesPerSecond = float64(s.Aside) / rest
	}
	g.Streamed = &s
	g.SecondsPerPass = float64(plan.Examples-plan.Aside)/m.BytesPerSecond +
		float64(plan.Aside)/s.BytesPerSecond
	return g, nil
}

// measure loads examples, scores two classes a few times, and frees them.
func measure(ctx context.Context, e engine.Engine, x dataset.Examples, classes int) (m measurement,
	err error) {
	p, err := e.Plan(x, nil, classes)
	if err != nil {
		return m, err
	}
	r, err := e.Load(x, classes)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	const least, most, enough = 4, 12, 0.3 // scorings, and seconds of all
	w, scores := engine.NewWeights(classes, x.D), make([]float32, classes)
	pair := []int{0, 1}[:min(2, classes)]
	var seconds []float64
	for sum := 0.0; len(seconds) < least || (len(seconds) < most && sum < enough); {
		if err := app.Interrupted(ctx); err != nil {
			return m, err
		}
		start := time.Now()
		if err := r.Rescore(w, pair); err != nil {
			return m, err
		}
		if err := r.Scores(scores, 0, 1); err != nil { // which waits for the device
			return m, err
		}
		seconds = append(seconds, time.Since(start).Seconds())
		sum += seconds[len(seconds)-1]
	}
	seconds = seconds[1:] // the first also warms up
	slices.Sort(seconds)
	m = measurement{Examples: x.N, Bytes: p.Examples, Aside: p.Aside, Seconds: seconds[len(seconds)/2]}
	m.BytesPerSecond = float64(m.Bytes) / max(m.Seconds, 1e-9)
	return m, nil
}

// FirstExamples returns as many of the first examples as take the given bytes,
// at least one, sharing memory.
func FirstExamples(x dataset.Examples, bytes int) dataset.Examples {
	f := dataset.Examples{D: x.D}
	if !x.Sparse() {
		f.N = min(x.N, max(1, bytes/(4*x.D)))
		f.X = x.X[:f.N*f.D]
		return f
	}
	f.N = max(1, sort.Search(x.N, func(i int) bool { return 8*x.Starts[i+1] > int64(bytes) }))
	stored := x.Starts[f.N]
	f.Starts, f.Columns, f.Values = x.Starts[:f.N+1], x.Columns[:stored], x.Values[:stored]
	return f
}
