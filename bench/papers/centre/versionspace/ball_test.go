package versionspace

import (
	"math"
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// TestFactorGrows: after members came and went, the updated factor has the same bits as a new
// factor of the remaining members' matrix.
func TestFactorGrows(t *testing.T) {
	left := 0
	for seed := range uint64(20) {
		s := polytope(t, 80, 12, seed)
		h := &hull{s: s, members: []int{0}, shares: []float64{1}, x: slices.Clone(s.row(0))}
		h.nearest()
		grown := h.affine()
		anew := &hull{s: s, members: h.members}
		if !slices.Equal(grown, anew.affine()) {
			t.Errorf("seed %d: found the shares %v, wanted %v", seed, grown, anew.affine())
		}
		for i, row := range h.factor {
			for j := range i + 1 {
				want := 1 + numerics.Dot64(s.row(h.members[i]), s.row(h.members[j]))
				if got := numerics.Dot64(row[:j+1], h.factor[j]); math.Abs(got-want) > 1e-12 {
					t.Errorf("seed %d, %d, %d: the factor makes %v of %v", seed, i, j, got, want)
				}
			}
		}
		left += len(h.members)
	}
	if left < 40 {
		t.Errorf("found %d members in all, too few to tell", left)
	}
}

// TestBallIsTheCallers: what a caller does to a centre does not show in the next one.
func TestBallIsTheCallers(t *testing.T) {
	s := polytope(t, 10, 4, 1)
	first, err := s.Ball()
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Clone(first.Centre)
	clear(first.Centre)
	if second, err := s.Ball(); err != nil || !slices.Equal(second.Centre, want) {
		t.Errorf("found %v, %v, wanted %v", second.Centre, err, want)
	}
}
