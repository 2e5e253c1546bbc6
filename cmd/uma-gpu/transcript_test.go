//go:build mpi && cgo

package main

import (
	"bytes"
	"strings"
	"sync"
	"testing"
)

// transcript collects what a process writes, and has tests wait for words of it.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{} // closed by the next Write
}

func (h *transcript) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.more != nil {
		close(h.more)
		h.more = nil
	}
	return h.text.Write(b)
}

// String returns all that was written.
func (h *transcript) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// waitFor returns when all words have been written. The test's own end is the only limit.
func (h *transcript) waitFor(t *testing.T, words ...string) {
	t.Helper()
	for {
		h.mu.Lock()
		text := h.text.String()
		if h.more == nil {
			h.more = make(chan struct{})
		}
		more := h.more
		h.mu.Unlock()
		missing := 0
		for _, word := range words {
			if !strings.Contains(text, word) {
				missing++
			}
		}
		if missing == 0 {
			return
		}
		select {
		case <-more:
		case <-t.Context().Done():
			t.Fatalf("%q was never written:\n%s", words, text)
		}
	}
}
