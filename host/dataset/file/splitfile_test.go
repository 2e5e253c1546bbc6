package file

import (
	"math/rand/v2"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// A file has to be closed yet: no part of it goes over its examples.
func TestSplitOfFile(t *testing.T) {
	d := randomDataset(rand.New(rand.NewPCG(5, 5)), 121, 3, []string{"a", "b", "c"})
	want, err := dataset.SplitCounts(d, []int{20, dataset.Rest, 10}, 3)
	if err != nil {
		t.Fatal(err)
	}
	mapped := onDisk(t, d, Options{})
	parts, err := dataset.SplitCounts(mapped, []int{20, dataset.Rest, 10}, 3, dataset.InPlace)
	if err != nil {
		t.Fatal(err)
	}
	for k, p := range parts {
		if !equalExamples(p.Examples, want[k].Examples) {
			t.Errorf("part %d of a file is another", k)
		}
	}
	if len(mapped.X) != len(d.X) {
		t.Errorf("found %d values of a file left, wanted %d", len(mapped.X), len(d.X))
	}
}
