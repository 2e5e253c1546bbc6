// Package memory reports how many bytes the process may still take, so that a size
// that cannot fit is refused with an error before it ends the process.
package memory

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// ErrBudget marks what needs more memory than the process may take.
var ErrBudget = errors.New("does not fit in memory")

// limit is one bound of the memory that may still be taken.
type limit struct {
	left   int64  // bytes
	name   string // whose limit it is, as the end of "... are left by"
	advice string // what moves it
}

// Available returns how many bytes the process may still take, at least 0: the least that the
// machine, its control groups, RLIMIT_AS, RLIMIT_DATA and GOMEMLIMIT leave, [math.MaxInt64] if none
// is known. It reads small files, which takes about 0.1 ms. Garbage counts until it is collected.
func Available() int64 { return tightest().left }

// Check returns nil if the process may take another need bytes, and else an error
// that wraps [ErrBudget]. what is the subject of the error's message, such as
// "a table of 7 classes". It collects garbage before it refuses. A need of
// [math.MaxInt64] means more than can be counted and is always refused.
//
// What was found is believed for a tenth of a second, less what was granted since,
// for needs of at most half of it: many small ones cost no time.
func Check(need int64, what string) error {
	if need <= 0 || need <= goLimit().left && found.grants(need) {
		return nil
	}
	l := tightest()
	if need > l.left {
		debug.FreeOSMemory()
		l = tightest()
	}
	found.is(l.left - need)
	if need == math.MaxInt64 {
		return fmt.Errorf("%s %w: it needs more bytes than 63 bits can count; give smaller sizes", what,
			ErrBudget)
	}
	if need > l.left {
		return fmt.Errorf("%s %w: it needs %s, and %s are left by %s; %s",
			what, ErrBudget, bytes(need), bytes(l.left), l.name, l.advice)
	}
	return nil
}

// found is what the last look at the system's files found.
var found finding

type finding struct {
	sync.Mutex
	at   time.Time
	left int64 // bytes, less what was granted since
}

func (f *finding) is(left int64) {
	f.Lock()
	defer f.Unlock()
	f.at, f.left = time.Now(), left
}

// grants says whether there is room without looking again.
func (f *finding) grants(need int64) bool {
	f.Lock()
	defer f.Unlock()
	if need > f.left/2 || time.Since(f.at) > 100*time.Millisecond {
		return false
	}
	f.left -= need
	return true
}

// Product returns the product of sizes, and [math.MaxInt64] where it is more than
// that or a size is negative.
func Product(sizes ...int) int64 {
	p, over := int64(1), false
	for _, s := range sizes {
		switch {
		case s == 0:
			return 0
		case s < 0 || over || p > math.MaxInt64/int64(s):
			over = true // a later 0 makes it 0
		default:
			p *= int64(s)
		}
	}
	if over {
		return math.MaxInt64
	}
	return p
}

// Sum returns the sum of numbers of bytes, each at least 0, and [math.MaxInt64]
// where it is more than that.
func Sum(terms ...int64) int64 {
	var s int64
	for _, t := range terms {
		if t < 0 || s > math.MaxInt64-t {
			return math.MaxInt64
		}
		s += t
	}
	return s
}

// tightest returns the limit that leaves least.
func tightest() limit {
	least := limit{math.MaxInt64, "the largest number of bytes there can be", "give smaller sizes"}
	for _, l := range append(systemLimits(), goLimit()) {
		l.left = max(0, l.left)
		if l.left < least.left {
			least = l
		}
	}
	return least
}

// unreal is a GOMEMLIMIT that the program was started with and that it takes more than by itself:
// no run keeps it, so it says nothing of sizes. Go's limit is a wish. -1 if there is none.
var unreal = func() int64 {
	if most := debug.SetMemoryLimit(-1); most < leastLimit {
		return most
	}
	return -1
}()

// leastLimit is what the program takes by itself, drivers included.
const leastLimit = 32 << 20

// goLimit is what GOMEMLIMIT leaves. Go does not fail beyond it, but spends its time
// on collecting garbage.
func goLimit() limit {
	const advice = "raise GOMEMLIMIT or give smaller sizes"
	most := debug.SetMemoryLimit(-1) // only asks
	if most == math.MaxInt64 || most == unreal {
		return limit{math.MaxInt64, "GOMEMLIMIT", advice}
	}
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	return limit{most - int64(now.Sys-now.HeapReleased), "GOMEMLIMIT", advice}
}

// bytes writes a number of bytes, large ones in GiB or MiB too.
func bytes(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%d bytes (%.3g GiB)", n, float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%d bytes (%.3g MiB)", n, float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d bytes", n)
}

// Growth watches the memory of a list whose final size is not known: packed files may be small.
type Growth struct{ Bytes, checked int }

// Check returns an error, once in piece bytes, where memory would not hold many more; what is a
// format for n elements.
func (g *Growth) Check(piece int, what string, n int) error {
	added := g.Bytes - g.checked
	if added < piece {
		return nil
	}
	g.checked = g.Bytes
	return Check(int64(8*piece+2*added), fmt.Sprintf(what, n))
}
