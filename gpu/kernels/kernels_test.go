package kernels

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestHash: every build has all the kernels, also one without OpenCL, and a hash of
// their text.
func TestHash(t *testing.T) {
	h := sha256.New()
	for _, name := range Names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(h, "%d\n%s", len(text), text)
	}
	if got, err := Hash(); err != nil || got != fmt.Sprintf("%x", h.Sum(nil)) {
		t.Errorf("hash %q, %v, wanted %x", got, err, h.Sum(nil))
	}
	found, err := filepath.Glob("*.cl")
	if err != nil || len(found) != len(Names) {
		t.Errorf("%d files of kernels, %v, wanted %d", len(found), err, len(Names))
	}
	for _, path := range found {
		if !slices.Contains(Names, path) {
			t.Errorf("%s is not compiled", path)
		}
	}
}
