package enginetest

import "sync"

// expected remembers what the naive computation takes longest for, norms and projections, since a
// process puts the same problems to many engines.
var expected = memory{m: map[string][]float32{}}

type memory struct {
	mu sync.Mutex
	m  map[string][]float32
}

func (m *memory) floats(name string, compute func() []float32) []float32 {
	m.mu.Lock()
	known, ok := m.m[name]
	m.mu.Unlock()
	if !ok {
		known = compute()
		m.mu.Lock()
		m.m[name] = known
		m.mu.Unlock()
	}
	return known
}
