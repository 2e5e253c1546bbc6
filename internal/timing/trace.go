package timing

import (
	"encoding/json"
	"io"
	"slices"
	"sync"
	"time"
)

// Trace collects spans of time on named tracks and writes them in the JSON array
// format of Chrome's trace viewer, which chrome://tracing and ui.perfetto.dev
// open. The zero value is ready. It is safe for concurrent use.
type Trace struct {
	mu    sync.Mutex
	spans []span
}

// span is one stretch of time on a track.
type span struct {
	track, name string
	start, end  time.Time
}

// Track returns a function that adds a span to a track. Spans of a track that
// lie within each other are drawn so.
func (t *Trace) Track(track string) func(name string, start, end time.Time) {
	return func(name string, start, end time.Time) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.spans = append(t.spans, span{track, name, start, end})
	}
}

// Reset forgets all spans.
func (t *Trace) Reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.spans = nil
}

// Seconds returns the lengths of all spans of a name on a track, in order.
func (t *Trace) Seconds(track, name string) []float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []float64
	for _, s := range t.spans {
		if s.track == track && s.name == name {
			all = append(all, s.end.Sub(s.start).Seconds())
		}
	}
	return all
}

// event is one line of the file. Times are in microseconds.
type event struct {
	Name     string         `json:"name"`
	Phase    string         `json:"ph"` // X is a span, M describes a track
	Time     float64        `json:"ts"`
	Duration float64        `json:"dur"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"` // the track, from 1
	Args     map[string]any `json:"args,omitempty"`
}

// Write writes the trace; time 0 is the beginning of the first span.
func (t *Trace) Write(w io.Writer) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var tracks []string
	events := []event{}
	for _, s := range t.spans {
		if !slices.Contains(tracks, s.track) {
			tracks = append(tracks, s.track)
			events = append(events, event{Name: "thread_name", Phase: "M", Process: 1,
				Thread: len(tracks), Args: map[string]any{"name": s.track}})
		}
	}
	// A span that holds others comes before them.
	sorted := slices.Clone(t.spans)
	slices.SortStableFunc(sorted, func(a, b span) int {
		if c := a.start.Compare(b.start); c != 0 {
			return c
		}
		return b.end.Compare(a.end)
	})
	micro := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
	for _, s := range sorted {
		events = append(events, event{
			Name: s.name, Phase: "X", Process: 1, Thread: 1 + slices.Index(tracks, s.track),
			Time: micro(s.start.Sub(sorted[0].start)), Duration: micro(s.end.Sub(s.start)),
		})
	}
	return json.NewEncoder(w).Encode(events)
}
