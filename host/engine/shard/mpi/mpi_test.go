//go:build mpi && cgo

package mpi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/host/engine/shard"
)

// TestWorld runs on the ranks that mpirun started, or on one: sums, maxima and bytes of all ranks,
// also in pieces, and calls that differ.
func TestWorld(t *testing.T) {
	Patience = 50 * time.Millisecond
	var said said
	w, err := Join(said.add)
	if err != nil {
		t.Fatal(err)
	}
	rank, count := w.Rank()
	if l := Launched(); rank != l.Rank || count != l.Ranks {
		t.Fatalf("rank %d of %d, the environment has %+v", rank, count, l)
	}
	ctx := t.Context()
	all := int64(count)
	piece = 3
	for k := range 40 {
		v, m, b := make([]int64, k%11), make([]int64, k%5), make([]byte, k%8)
		for i := range v {
			v[i] = int64(rank) + int64(i)<<40
		}
		for i := range m {
			m[i] = int64(-rank * i)
		}
		for i := range b {
			b[i] = byte(rank + i)
		}
		err := errors.Join(w.Sum(ctx, v), w.Max(ctx, m), w.Broadcast(ctx, b, k%count), w.Barrier(ctx))
		if err != nil {
			t.Fatal(err)
		}
		for i := range v {
			if want := all*(all-1)/2 + all*int64(i)<<40; v[i] != want {
				t.Fatalf("sum %d of %d: found %d, want %d", i, len(v), v[i], want)
			}
		}
		for i := range m {
			if m[i] != 0 {
				t.Fatalf("largest %d of %d: found %d, want 0", i, len(m), m[i])
			}
		}
		for i := range b {
			if b[i] != byte(k%count+i) {
				t.Fatalf("byte %d of %d: found %d, want that of rank %d", i, len(b), b[i], k%count)
			}
		}
	}
	stalled(t, w, &said)
	if count > 1 {
		err := w.Sum(ctx, make([]int64, 1+rank))
		if !errors.Is(err, shard.ErrDiffers) {
			t.Errorf("sums of other sizes: %v, want %v", err, shard.ErrDiffers)
		}
	}
	if os.Getenv("UMA_GPU_MEASURE") != "" {
		measure(t, w)
	}
	if err := w.Finish(); err != nil {
		t.Error(err)
	}
}

// said is what ranks are told. While marks is not "", each message leaves a file there.
type said struct {
	mu    sync.Mutex
	text  string
	marks string
	rank  int
}

func (s *said) add(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text += fmt.Sprintf(format+"\n", args...)
	if s.marks != "" {
		// what is missing is waited for
		os.WriteFile(filepath.Join(s.marks, fmt.Sprint(s.rank)), nil, 0o600)
	}
}

// take returns what was said since the last time.
func (s *said) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.text
	s.text = ""
	return text
}

// stalled has rank 0 come when all other ranks have said that they wait, which files tell it:
// mpirun is the parent of all ranks.
func stalled(t *testing.T, w *World, said *said) {
	_, count := w.Rank()
	marks := filepath.Join(os.TempDir(), fmt.Sprintf("uma-gpu-ranks-%d", os.Getppid()))
	if w.rank == 0 {
		if err := os.MkdirAll(marks, 0o700); err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(marks)
	}
	if err := w.Barrier(t.Context()); err != nil {
		t.Fatal(err)
	}
	said.take() // ranks may have been slow to begin
	said.mu.Lock()
	said.marks, said.rank = marks, w.rank
	said.mu.Unlock()
	if w.rank == 0 {
		for rank := 1; rank < count; rank++ {
			for _, err := os.Stat(filepath.Join(marks,
				fmt.Sprint(rank))); err != nil; time.Sleep(time.Millisecond) {
				_, err = os.Stat(filepath.Join(marks, fmt.Sprint(rank)))
			}
		}
	}
	if err := w.Barrier(t.Context()); err != nil {
		t.Fatal(err)
	}
	text := said.take()
	if w.rank != 0 && !strings.Contains(text, fmt.Sprintf("rank %d has waited", w.rank)) {
		t.Errorf("rank %d said %q", w.rank, text)
	}
}

// measure prints what sums of some sizes take, as docs/scale.md has it.
func measure(t *testing.T, w *World) {
	piece = 1 << 30
	for _, n := range []int{1, 8 << 10, 200 << 10, 4 << 20} {
		v := make([]int64, n)
		best := time.Hour
		for range 30 {
			if err := w.Barrier(context.Background()); err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			if err := w.Sum(context.Background(), v); err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(begin))
		}
		if w.rank == 0 {
			fmt.Printf("%d ranks, sum of %d bytes: %v\n", w.ranks, 8*n, best)
		}
	}
}
