package kernels

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestNames: the list names all kernel files, and no other.
func TestNames(t *testing.T) {
	found, err := filepath.Glob("*.cl")
	if err != nil {
		t.Fatal(err)
	}
	if want := slices.Sorted(slices.Values(Names)); !slices.Equal(found, want) {
		t.Errorf("kernel files: got %q, want %q", found, want)
	}
}
