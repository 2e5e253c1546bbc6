package memory

import (
	"errors"
	"math"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

func TestAvailable(t *testing.T) {
	if n := Available(); n <= 0 {
		t.Errorf("found %d bytes left, and this test runs", n)
	}
}

// GOMEMLIMIT is what a test can set for its own process.
func TestCheck(t *testing.T) {
	before := debug.SetMemoryLimit(256 << 20)
	defer debug.SetMemoryLimit(before)
	if n := Available(); n <= 0 || n >= 256<<20 {
		t.Errorf("found %d bytes left of 256 MiB", n)
	}
	for _, need := range []int64{-1, 0, 1, 1 << 20} {
		if err := Check(need, "a table"); err != nil {
			t.Errorf("%d bytes: %v", need, err)
		}
	}
	for need, want := range map[int64]string{
		1 << 30: "a table does not fit in memory: it needs 1073741824 bytes (1 GiB), and ",
		math.MaxInt64: "a table does not fit in memory: it needs more bytes than 63 bits can count; " +
			"give smaller sizes",
	} {
		err := Check(need, "a table")
		if !errors.Is(err, ErrBudget) || !strings.HasPrefix(err.Error(), want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%d bytes: %v", need, err)
		}
		const end = " are left by GOMEMLIMIT; raise GOMEMLIMIT or give smaller sizes"
		if need == 1<<30 && !strings.HasSuffix(err.Error(), end) {
			t.Error(err)
		}
	}
	debug.SetMemoryLimit(1)
	if n := Available(); n != 0 {
		t.Errorf("found %d bytes left of one that is used", n)
	}
}

// Garbage counts as taken only until somebody needs its room.
func TestCheckCollects(t *testing.T) {
	debug.FreeOSMemory()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	before := debug.SetMemoryLimit(256 << 20)
	defer debug.SetMemoryLimit(before)
	garbage := make([]byte, 160<<20)
	garbage[1] = 1
	if err := Check(200<<20, "a table"); err != nil {
		t.Error(err)
	}
}

func TestProductAndSum(t *testing.T) {
	for _, c := range []struct {
		sizes []int
		want  int64
	}{
		{nil, 1}, {[]int{3, 4, 5}, 60}, {[]int{math.MaxInt, 1}, math.MaxInt},
		{[]int{math.MaxInt, 3, math.MaxInt}, math.MaxInt64},
		{[]int{math.MaxInt, 3, math.MaxInt, 0}, 0}, {[]int{-1, 2}, math.MaxInt64}, {[]int{0, -1}, 0},
	} {
		if got := Product(c.sizes...); got != c.want {
			t.Errorf("product of %d: found %d, want %d", c.sizes, got, c.want)
		}
	}
	for _, c := range []struct {
		terms []int64
		want  int64
	}{
		{nil, 0}, {[]int64{1, 2}, 3}, {[]int64{math.MaxInt64, 0}, math.MaxInt64},
		{[]int64{math.MaxInt64, 1}, math.MaxInt64},
		{[]int64{math.MaxInt64, math.MaxInt64, 7}, math.MaxInt64},
	} {
		if got := Sum(c.terms...); got != c.want {
			t.Errorf("sum of %d: found %d, want %d", c.terms, got, c.want)
		}
	}
}

// What was found a moment ago is enough for small needs, until they add up.
func TestFinding(t *testing.T) {
	var f finding
	if f.grants(1) {
		t.Error("granted a byte before anybody looked")
	}
	f.is(100)
	for _, c := range []struct {
		need int64
		want bool
	}{{51, false}, {50, true}, {26, false}, {25, true}, {math.MaxInt64, false}, {12, true}, {7,
		false}} {
		if got := f.grants(c.need); got != c.want {
			t.Errorf("%d bytes: found %v, want %v", c.need, got, c.want)
		}
	}
	f.is(-5)
	if f.grants(1) {
		t.Error("granted a byte where there is none")
	}
	f.is(100)
	f.at = f.at.Add(-time.Second)
	if f.grants(1) {
		t.Error("granted a byte that was there a second ago")
	}
}
