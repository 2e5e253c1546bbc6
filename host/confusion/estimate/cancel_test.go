package estimate_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/confusion/estimate"
)

// FromEvidence ends with its context, wherever it is.
func TestFromEvidenceEndsWithItsContext(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	end()
	e := estimate.Evidence{Classes: []string{"a", "b"}, P: slices.Repeat([]float32{0.7, 0.3}, 40)}
	for i := range 40 {
		e.Y = append(e.Y, int32(i%2))
	}
	if c, err := estimate.FromEvidence(ctx, e); c != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, %v", c, err)
	}
}
