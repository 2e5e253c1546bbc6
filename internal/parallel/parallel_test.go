package parallel

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// atProcessors runs a test with a number of processors.
func atProcessors(t *testing.T, processors int) {
	t.Helper()
	before := runtime.GOMAXPROCS(processors)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

func TestWorkers(t *testing.T) {
	atProcessors(t, 4)
	for _, c := range []struct{ n, grain, want int }{
		{0, 1, 1}, {1, 1, 1}, {3, 1, 3}, {4, 1, 4}, {100, 1, 4}, {100, 30, 3}, {100, 101, 1}, {128, 64,
			2}, {127, 64, 1},
	} {
		if got := Workers(c.n, c.grain); got != c.want {
			t.Errorf("%d items, at least %d for each: %d workers, want %d", c.n, c.grain, got, c.want)
		}
	}
}

// Every item is taken exactly once, however many processors there are.
func TestEveryItemOnce(t *testing.T) {
	for _, processors := range []int{1, 2, 7} {
		t.Run(fmt.Sprint(processors), func(t *testing.T) {
			atProcessors(t, processors)
			for _, n := range []int{0, 1, 2, 6, 7, 8, 1000} {
				taken := make([]atomic.Int32, n)
				Tasks(n, func(task int) { taken[task].Add(1) })
				for _, grain := range []int{1, 3, 2000} {
					Ranges(n, grain, func(from, to int) {
						if to-from < min(grain, n) {
							t.Errorf("%d items: found range %d..%d, want at least %d items", n, from, to, grain)
						}
						for i := from; i < to; i++ {
							taken[i].Add(1)
						}
					})
				}
				for i := range taken {
					if got := taken[i].Load(); got != 4 {
						t.Errorf("item %d of %d was taken %d times, want 4", i, n, got)
					}
				}
			}
		})
	}
}

func TestCut(t *testing.T) {
	atProcessors(t, 2)
	ends := make([][2]int, 5)
	Cut(17, 5, func(part, from, to int) { ends[part] = [2]int{from, to} })
	at := 0
	for part, e := range ends {
		if e[0] != at || e[1] < e[0] {
			t.Errorf("part %d is %d..%d, want it to begin at %d", part, e[0], e[1], at)
		}
		at = e[1]
	}
	if at != 17 {
		t.Errorf("the parts end at %d, want 17", at)
	}
}

// No two tasks of a worker run at the same time, and no worker has a number beyond.
func TestWorkersOwn(t *testing.T) {
	const workers, n = 4, 1000
	atProcessors(t, workers)
	var sums [workers]int // the race detector watches
	Share(workers, n, func(worker, task int) { sums[worker] += task })
	total := 0
	for _, s := range sums {
		total += s
	}
	if total != n*(n-1)/2 {
		t.Errorf("the workers' sums are %d, want %d together", sums, n*(n-1)/2)
	}
	Share(workers, 2, func(worker, _ int) {
		if worker > 1 {
			t.Errorf("worker %d of two tasks", worker)
		}
	})
}

// The number of workers is the caller's: what becomes of GOMAXPROCS meanwhile changes nothing.
func TestProcessorsChange(t *testing.T) {
	atProcessors(t, 2)
	taken := make([]atomic.Int32, 64)
	Ranges(len(taken), 1, func(from, to int) {
		runtime.GOMAXPROCS(1 + from%3)
		for i := from; i < to; i++ {
			taken[i].Add(1)
		}
	})
	for i := range taken {
		if got := taken[i].Load(); got != 1 {
			t.Errorf("item %d was taken %d times", i, got)
		}
	}
}

func TestPanic(t *testing.T) {
	atProcessors(t, 4)
	cause := errors.New("cause")
	for _, workers := range []int{1, 4} {
		var begun atomic.Int32
		func() {
			defer func() {
				value := recover()
				err, ok := value.(error)
				if !ok || !errors.Is(err, cause) {
					t.Fatalf("%d workers: panic %v, want the task's", workers, value)
				}
				var p *Panic
				if errors.As(err, &p) != (workers > 1) {
					t.Errorf("%d workers: panic of type %T", workers, value)
				}
				if workers > 1 && !strings.Contains(err.Error(), "parallel_test.go") {
					t.Errorf("the panic does not say where it was: %v", err)
				}
			}()
			Share(workers, 1<<20, func(_, task int) {
				begun.Add(1)
				if task == 5 {
					panic(cause)
				}
			})
		}()
		if n := begun.Load(); n == 1<<20 {
			t.Errorf("%d workers: all tasks were begun after one panicked", workers)
		}
	}
	// One that is no error, while others are under way.
	defer func() {
		if p, ok := recover().(*Panic); !ok || p.Value != 7 || p.Unwrap() != nil {
			t.Errorf("panic %v, want 7", p)
		}
	}()
	var others atomic.Int32
	defer func() {
		if others.Load() != 3 {
			t.Errorf("%d tasks ended before the panic, want 3", others.Load())
		}
	}()
	var all sync.WaitGroup
	all.Add(4)
	Share(4, 4, func(_, task int) {
		all.Done()
		all.Wait()
		if task == 2 {
			panic(7)
		}
		runtime.Gosched()
		others.Add(1)
	})
}
