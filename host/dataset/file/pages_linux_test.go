package file

import (
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

const fadviseDontNeed = 4 // POSIX_FADV_DONTNEED

// inMemory returns how many pages of values are in memory, and how many there are.
func inMemory(t *testing.T, values []float32) (there, all int) {
	t.Helper()
	raw, page := store.Bytes(values), os.Getpagesize()
	before := int(store.Address(raw) % uintptr(page))
	is := make([]byte, (before+len(raw)+page-1)/page)
	if _, _, e := syscall.Syscall(syscall.SYS_MINCORE, store.Address(raw)-uintptr(before),
		uintptr(before+len(raw)), uintptr(unsafe.Pointer(&is[0]))); e != 0 {
		t.Fatal(e)
	}
	for _, v := range is {
		there += int(v & 1)
	}
	return there, len(is)
}

// What is fetched is in memory, and what is not fetched is not: the system reads ahead of those
// alone who go through the file, no further than it is set to. An Ahead fetches a window, from
// where somebody is.
func TestFetch(t *testing.T) {
	const n, d = 40_000, 256
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([]float32, n*d)
	for i := range x {
		x[i] = rng.Float32()
	}
	y := make([]string, n)
	for i := range y {
		y[i] = strconv.Itoa(i % 2)
	}
	made, err := dataset.New(dataset.Examples{N: n, D: d, X: x}, y, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := stored(t, made, Options{Placement: Placement{Trust: true}})
	forgotten := func() {
		t.Helper()
		f, err := os.OpenFile(e.Path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
		raw := fileOf(e).raw
		if err := syscall.Madvise(raw, syscall.MADV_DONTNEED); err != nil {
			t.Fatal(err)
		}
		if _, _, e := syscall.Syscall6(syscall.SYS_FADVISE64, f.Fd(), 0, 0, fadviseDontNeed, 0,
			0); e != 0 {
			t.Fatal(e)
		}
		if there, all := inMemory(t, e.X); there > all/2 {
			t.Skipf("%s lies on a file system that keeps files in memory: found %d of %d pages there after "+
				"all were to be forgotten", e.Path, there, all)
		}
	}
	forgotten()
	e.Pages().Fetch(100, 30_000)
	if there, all := inMemory(t, e.X[100*d:30_000*d]); there < all {
		t.Errorf("found %d of %d pages in memory that were fetched", there, all)
	}

	for _, some := range []int{20, 20_000} {
		forgotten()
		rows := rng.Perm(n - 1)[:some]
		e.Pages().FetchSome(0, n, len(rows), func(k int) int { return rows[k] })
		for end := time.Now().Add(20 * time.Second); ; {
			there, all := 0, 0
			for _, row := range rows {
				a, b := inMemory(t, e.Row(row))
				there, all = there+a, all+b
			}
			if there == all {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("%d rows: found %d of %d pages in memory that were fetched", some, there, all)
			}
			time.Sleep(time.Millisecond)
		}
		if there, all := inMemory(t, e.X); some < 100 && there > all/2 {
			t.Errorf("%d rows: found %d of %d pages in memory", some, there, all)
		}
	}
	forgotten()
	const window = 10_000
	a := e.Pages().Ahead(window)
	fetched := func(from, to int) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
			there, all := inMemory(t, e.X[from*d:to*d])
			if there >= all-all/50 { // the system may have taken a few back meanwhile
				break
			}
			if time.Now().After(end) {
				t.Fatalf("found %d of %d pages of %d..%d in memory, which is ahead", there, all, from, to-1)
			}
		}
	}
	fetched(0, window)
	if there, all := inMemory(t, e.X[n/2*d:]); there > all/2 {
		t.Errorf("a window ahead of 0: found %d of the last %d pages in memory", there, all)
	}
	a.Come(n / 2)
	fetched(n/2, n/2+window)
	a.Come(n - 1)
	fetched(n-1, n)
	a.Close()
	sameBits(t, "values", e.X, x)
}
