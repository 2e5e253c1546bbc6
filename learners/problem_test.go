package learners_test

import (
	"runtime"
	"testing"
	"weak"

	"github.com/uma-gpu/uma-gpu/host/confusion"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Problems on other examples share one inverse, and let the examples of before go: a kernel
// map leaves the features of all examples behind.
func TestProblemOn(t *testing.T) {
	noise, err := confusion.Pairwise([]string{"a", "b", "c"}, 0.2)
	if err != nil {
		t.Fatal(err)
	}
	first := &learners.Problem{X: dataset.Examples{N: 1, D: 1 << 20, X: make([]float32, 1<<20)}, Q: 3,
		Noise: noise}
	examples := weak.Make(&first.X.X[0])
	inverse, err := first.Inverse()
	if err != nil {
		t.Fatal(err)
	}
	second := first.On(dataset.Examples{}, nil)
	first = nil
	runtime.GC()
	if examples.Value() != nil {
		t.Error("the examples of the first problem are still in memory")
	}
	if again, err := second.Inverse(); err != nil || again != inverse {
		t.Errorf("%v: another inverse", err)
	}
	none := &learners.Problem{Q: 2}
	if a, err := none.Inverse(); err != nil || a.Condition != 1 {
		t.Errorf("no noise: %+v, %v", a, err)
	}
	runtime.KeepAlive(second)
}
