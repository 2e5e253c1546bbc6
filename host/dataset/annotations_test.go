package dataset

import (
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/facts"
)

// Votes: the most frequent label, and ties by lot.
func TestVotes(t *testing.T) {
	a := &Annotations{Classes: []string{"x", "y", "z"}, Names: []string{"a", "b", "c"},
		Start: []int{0}}
	for range 300 {
		a.By, a.Label = append(a.By, 0, 1, 2), append(a.Label, 2, 0, 2)
		a.Start = append(a.Start, len(a.By))
		a.By, a.Label = append(a.By, 0, 1), append(a.Label, 1, 0)
		a.Start = append(a.Start, len(a.By))
	}
	y := a.Votes(1)
	var ties [3]int
	for i, k := range y {
		if i%2 == 0 && k != 2 {
			t.Fatalf("example %d: label %d, wanted 2", i, k)
		}
		if i%2 == 1 {
			ties[k]++
		}
	}
	if ties[0] < 110 || ties[1] < 110 || ties[2] > 0 {
		t.Errorf("ties between 0 and 1 became %v", ties)
	}
	if !slices.Equal(y, a.Votes(1)) {
		t.Error("another vote from the same seed")
	}
	a.Label[4] = 3
	if err := a.Check(600, 3); !facts.Told(err, "label 3") {
		t.Errorf("a label out of range: %v", err)
	}
}
