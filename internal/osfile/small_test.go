package osfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if _, err := Read(path); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), path) {
		t.Errorf("no file: %v", err)
	}
	for size, refused := range map[int64]bool{0: false, 5: false, Most: false, Most + 1: true,
		1 << 40: true} {
		if err := os.WriteFile(path, []byte("text"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		text, err := Read(path)
		if refused != (err != nil) || !refused && int64(len(text)) != size {
			t.Errorf("%d bytes: found %d, %v", size, len(text), err)
		}
	}
}

// endless is a record without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestRecords(t *testing.T) {
	r := &Records{R: endless{}}
	for range 3 {
		if n, err := io.CopyN(io.Discard, r, Most-1<<15); err != nil {
			t.Errorf("%d bytes of a long record, %v", n, err)
		}
		r.Next()
	}
	if n, err := io.Copy(io.Discard, r); err == nil || n > Most {
		t.Errorf("%d bytes of a record without an end, %v", n, err)
	}
}
