package file

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
)

// ending is a context that ends after a number of looks by any goroutine.
type ending struct {
	context.Context
	end  context.CancelFunc
	left atomic.Int64
}

func endingAfter(ctx context.Context, end context.CancelFunc, looks int) *ending {
	e := &ending{Context: ctx, end: end}
	e.left.Store(int64(looks))
	return e
}

func (e *ending) Err() error {
	if e.left.Add(-1) < 0 {
		e.end()
	}
	return e.Context.Err()
}

// open counts what a process has open.
func open(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0 // another system
	}
	return len(entries)
}

// settled waits until no more goroutines run than before.
func settled(t *testing.T, before int) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for ; runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines run, %d before", runtime.NumGoroutine(), before)
		}
	}
}

// cancelFiles writes data of a mebibyte and more in every format.
func cancelFiles(t *testing.T) map[string]Options {
	t.Helper()
	dir, rng := t.TempDir(), rand.New(rand.NewPCG(3, 4))
	d := randomDataset(rng, 900, 300, []string{"a", "b", "c"})
	files := map[string]Options{}
	for _, name := range []string{"d.csv", "d.csv.gz", "d.csv.zst", "d.svm", "d.npz"} {
		path := filepath.Join(dir, name)
		if err := Write(t.Context(), path, d, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		files[path] = Options{}
	}
	type row struct {
		A     float32 `parquet:"a"`
		B     float32 `parquet:"b"`
		Label int32   `parquet:"label"`
	}
	rows := make([]row, 200_000)
	for i := range rows {
		rows[i] = row{rng.Float32(), rng.Float32(), int32(i % 2)}
	}
	var b bytes.Buffer
	if err := parquet.Write(&b, rows); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"d.parquet": b.String(),
		"labels": strings.Repeat("a\nb\nc\n", 300)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files[filepath.Join(dir, "d.parquet")] = Options{}
	npy := *d
	npy.Y, npy.Classes = nil, nil
	if err := Write(t.Context(), filepath.Join(dir, "d.npy"), &npy, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	files[filepath.Join(dir, "d.npy")] = Options{Labels: filepath.Join(dir, "labels")}
	return files
}

// Wherever a context ends, Read ends with it, and leave nothing open.
func TestReadEndsWithItsContext(t *testing.T) {
	files := cancelFiles(t)
	goroutines, descriptors := runtime.NumGoroutine(), open(t)
	for path, o := range files {
		name, whole := filepath.Base(path), false
		looks := 0
		for ; !whole; looks += 1 + looks {
			ctx, cancel := context.WithCancel(t.Context())
			d, err := Read(endingAfter(ctx, cancel, looks), path, o)
			if whole = err == nil; whole {
				if ctx.Err() != nil {
					t.Errorf("%s: read to the end with a context that had ended", name)
				}
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			} else if d != nil || !errors.Is(err, context.Canceled) ||
				err.Error() != path+": reading was cancelled: context canceled" {
				t.Errorf("%s after %d looks: %v", name, looks, err)
			}
			cancel()
		}
		if looks < 2 {
			t.Errorf("%s: Read looked at its context %d times", name, looks)
		}
		settled(t, goroutines)
		if now := open(t); now > descriptors {
			t.Errorf("%s: %d files are open, %d before", name, now, descriptors)
		}
	}
}

// A Read that waits for somebody else's bytes does not keep Read waiting.
func TestReadLeavesAReaderThatWaits(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, head := range []string{"", "1,2,a\n3,4,b\n", pack(t, "1,2,a\n3,4,b\n")} {
		for _, path := range []string{"-", "a name"} {
			r, w := io.Pipe()
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() {
				var err error
				if path == "-" {
					_, err = Read(ctx, path, Options{Stdin: r})
				} else {
					_, err = ReadFrom(ctx, r, path, Options{})
				}
				ended <- err
			}()
			if head != "" {
				if _, err := w.Write([]byte(head)); err != nil {
					t.Fatal(err)
				}
			}
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("%q from %s: %v", head, path, err)
			}
			w.Close() // which ends the wait
			settled(t, before)
		}
	}
}

// Write ends with its context, and leaves what was there.
func TestWriteEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	d := randomDataset(rand.New(rand.NewPCG(5, 6)), 300, 100, []string{"a", "b"})
	for _, name := range []string{"d.csv", "d.svm.gz", "d.npz"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		looks := 0
		for ; ; looks += 1 + looks {
			ctx, cancel := context.WithCancel(t.Context())
			err := Write(endingAfter(ctx, cancel, looks), path, d, WriteOptions{})
			cancel()
			if err == nil {
				break
			}
			if now, readErr := os.ReadFile(path); !errors.Is(err, context.Canceled) || readErr != nil ||
				string(now) != "old" {
				t.Fatalf("%s after %d looks: %v", name, looks, err)
			}
		}
		if _, err := Read(t.Context(), path, Options{}); err != nil || looks < 3 {
			t.Errorf("%s: %d looks, then %v", name, looks, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 3 {
		t.Errorf("%d files, %v", len(left), err)
	}
}
