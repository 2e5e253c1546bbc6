package gpu

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestKernelsHash: every build has all the kernels, also one without OpenCL, and a hash of
// their text.
func TestKernelsHash(t *testing.T) {
	h := sha256.New()
	for _, name := range kernelNames {
		text, err := os.ReadFile(filepath.Join("kernels", name))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(h, "%d\n%s", len(text), text)
	}
	if got, err := KernelsHash(); err != nil || got != fmt.Sprintf("%x", h.Sum(nil)) {
		t.Errorf("hash %q, %v, wanted %x", got, err, h.Sum(nil))
	}
	found, err := filepath.Glob("kernels/*.cl")
	if err != nil || len(found) != len(kernelNames) {
		t.Errorf("%d files of kernels, %v, wanted %d", len(found), err, len(kernelNames))
	}
	for _, path := range found {
		if !slices.Contains(kernelNames, filepath.Base(path)) {
			t.Errorf("%s is not compiled", path)
		}
	}
}
