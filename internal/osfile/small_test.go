package osfile

import (
	"errors"
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
