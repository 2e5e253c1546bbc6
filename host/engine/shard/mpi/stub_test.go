//go:build !mpi || !cgo

package mpi

import (
	"errors"
	"testing"
)

// TestNotBuilt: without MPI there is an error, and no Reducer that would sum nothing.
func TestNotBuilt(t *testing.T) {
	if w, err := Join(t.Logf); w != nil || !errors.Is(err, ErrNotBuilt) || Built {
		t.Errorf("found %v, %v, want %v", w, err, ErrNotBuilt)
	}
}
