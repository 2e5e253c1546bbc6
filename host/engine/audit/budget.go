package audit

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/uma-gpu/uma-gpu/internal/lists"
)

// What audits may take: a share of the time since the engine was opened, and a while that nobody
// notices. Sums are added whenever there is time; computing all once more leaves time for the last
// of them.
var (
	sums = allowance{share: 0.005, free: 10 * time.Millisecond}
	all  = allowance{share: 0.01, free: 20 * time.Millisecond}
	last = allowance{share: 0.02, free: 40 * time.Millisecond}
)

type allowance struct {
	share float64
	free  time.Duration
}

// budget says whether there is time for an audit.
type budget struct {
	full  bool // there is, always
	start time.Time

	mu    sync.Mutex
	spent time.Duration
	rate  float64 // seconds for an operation of an audit of everything, as measured last
}

func newBudget(full bool) *budget { return &budget{full: full, start: time.Now(), rate: 0.2e-9} }

// allows reports whether an audit that takes these seconds may begin.
func (b *budget) allows(a allowance, seconds float64) bool {
	if b.full {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent.Seconds()+seconds <= a.free.Seconds()+a.share*time.Since(b.start).Seconds()
}

// audit calls f, which takes that number of operations, if there is time.
func (b *budget) audit(a allowance, operations int, f func() error) error {
	b.mu.Lock()
	seconds := b.rate * float64(operations)
	b.mu.Unlock()
	if !b.allows(a, seconds) {
		return nil
	}
	took, err := b.timed(f)
	if operations > 1<<20 { // of fewer the time says little
		b.mu.Lock()
		b.rate = took.Seconds() / float64(operations)
		b.mu.Unlock()
	}
	return err
}

// timed calls f and counts the time that it takes.
func (b *budget) timed(f func() error) (time.Duration, error) {
	start := time.Now()
	err := f()
	took := time.Since(start)
	b.mu.Lock()
	b.spent += took
	b.mu.Unlock()
	return took, err
}

// some calls f with all of n things; or, unless all are audited, with
// at random.
func (b *budget) some(n int, f func(which []int) error) error {
	if b.full {
		which := lists.UpTo[int](n)
		return f(which)
	}
	// One tells what another takes. Steps of a length that has no divisor in common with n come to
	// all, far apart.
	at, step := rand.IntN(n), max(1, int(0.618*float64(n)))
	for divisor(step, n) > 1 {
		step++
	}
	for done, count := 0, 1; done < n && count > 0; {
		which := make([]int, count)
		for k := range which {
			which[k] = at
			at = (at + step) % n
		}
		took, err := b.timed(func() error { return f(which) })
		if err != nil {
			return err
		}
		done += count
		each := took.Seconds() / float64(count)
		for count = min(4*count, n-done); count > 0 && !b.allows(sums, each*float64(count)); {
			count /= 2
		}
	}
	return nil
}

// divisor is the largest that a and b have in common.
func divisor(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}
