package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
)

// TestFailure: a file is named once, whether the error knows it or not; the kind of error stays.
func TestFailure(t *testing.T) {
	d := &dataset.Dataset{Found: dataset.Found{Path: "d.csv"}}
	named := d.Errorf("%w", pca.ErrOptions)
	for _, err := range []error{named, fmt.Errorf("fold 1: %w", named), pca.ErrOptions} {
		got := Failure(t.Context(), "d.csv", err)
		if !errors.Is(got, pca.ErrOptions) || strings.Count(got.Error(), "d.csv") != 1 {
			t.Errorf("Failure(%v) is %q, want d.csv in it once", err, got)
		}
	}
	if got := Failure(t.Context(), "m.npz", named); strings.Count(got.Error(), "m.npz: d.csv: ") != 1 {
		t.Errorf("found %q, wanted both files", got)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got := Failure(ended, "d.csv", named); !errors.Is(got, ErrInterrupted) {
		t.Errorf("found %v, wanted that the command was interrupted", got)
	}
	if got := Failure(t.Context(), "d.csv", nil); got != nil {
		t.Errorf("found %v, wanted no error", got)
	}
}
