//go:build unix

package file

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// leastHoley is a size that every machine has room for, in its memory and on its disk.
const leastHoley = 1 << 26

// holeyFile writes a binary file of zeros, n examples of d features, that takes no room on the
// disk, and returns its path, n and size. It is about 10 GB large, and less where there are no
// such files: 32 bits have no addresses for it, a file system no holes or, as a process may, a
// limit.
func holeyFile(t testing.TB, d int) (path string, n int, size int64) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "holes.umab")
	for n = 2_600_000; ; n /= 2 {
		bytes := 4 * int64(n) * int64(d)
		if strconv.IntSize == 32 && bytes > 4*leastHoley {
			continue
		}
		h := &binaryHeader{Examples: n, Columns: d, Storage: "dense", Classes: []string{"a", "b"},
			DataSHA256: strings.Repeat("0", 64), ContentSHA256: strings.Repeat("0", 64)}
		h.Sections.X, h.Sections.Y = &binarySection{Bytes: bytes}, &binarySection{Bytes: 4 * int64(n)}
		text, err := h.place()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append([]byte(firstLine(binaryBare, text)), text...),
			0o666); err != nil {
			t.Fatal(err)
		}
		size = h.Sections.Y.Offset + h.Sections.Y.Bytes
		err = os.Truncate(path, size)
		if bytes > leastHoley && errors.Is(err, syscall.EFBIG) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		s, ok := info.Sys().(*syscall.Stat_t)
		if bytes <= leastHoley || ok && int64(s.Blocks)*512 <= size/2 {
			return path, n, size
		}
	}
}

// A file far larger than the heap opens at once.
func TestBinaryOpensInPlace(t *testing.T) {
	const d = 1024
	path, n, size := holeyFile(t, d)
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, best := heap(), time.Hour
	var data *dataset.Dataset
	for range 5 { // the machine may be busy
		if data != nil {
			if err := data.Close(); err != nil {
				t.Fatal(err)
			}
		}
		start := time.Now()
		var err error
		if data, err = Read(t.Context(), path, Options{}); err != nil {
			t.Fatal(err)
		}
		best = min(best, time.Since(start))
	}
	grown := int64(heap()) - int64(before)
	t.Logf("%d bytes opened in %v, the heap grew by %d bytes", size, best, grown)
	if data.N != n || data.D != d || len(data.X) != n*d || data.X[n*d-1] != 0 || data.Y[n-1] != 0 {
		t.Fatalf("found %d×%d", data.N, data.D)
	}
	if grown > 1<<20 {
		t.Errorf("the heap grew by %d bytes, wanted at most 1 MiB", grown)
	}
	if best > time.Second { // reading 10 GB takes several
		t.Errorf("opening took %v, wanted less than a second", best)
	}
	runtime.KeepAlive(data)
	if err := data.Close(); err != nil {
		t.Error(err)
	}
}

func BenchmarkOpenBinary(b *testing.B) {
	path, _, size := holeyFile(b, 1024)
	b.SetBytes(size)
	for b.Loop() {
		d, err := Read(b.Context(), path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := d.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// A named pipe that nobody writes to does not keep Read waiting, nor one whose writer
// is silent.
func TestReadOfAPipeEndsWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	before, descriptors := runtime.NumGoroutine(), open(t)
	for _, writer := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			_, err := Read(ctx, path, Options{})
			ended <- err
		}()
		var w *os.File
		if writer {
			var err error
			if w, err = os.OpenFile(path, os.O_WRONLY, 0); err != nil {
				t.Fatal(err)
			}
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("a writer is there: %v; %v", writer, err)
		}
		if w == nil { // let the reader that waits for a writer go
			var err error
			if w, err = os.OpenFile(path, os.O_WRONLY, 0); err != nil {
				t.Fatal(err)
			}
		} else {
			settled(t, before) // closing the file ended the wait
		}
		w.Close()
		settled(t, before)
	}
	// Goroutines of tests before this one may have been among those counted, and have let settled go
	// too early.
	now := open(t)
	for end := time.Now().Add(5 * time.Second); now > descriptors &&
		time.Now().Before(end); now = open(t) {
		time.Sleep(time.Millisecond)
	}
	if now > descriptors {
		t.Errorf("%d files are open, %d before", now, descriptors)
	}
}
