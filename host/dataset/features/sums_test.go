package features

import (
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/ranks"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// TestInOrder: columns that ranks add up one group behind the other have the sums of one process,
// where another order would have others.
func TestInOrder(t *testing.T) {
	const n, d = 5000, 300
	x := make([]float32, n*d)
	for i := range x {
		x[i] = float32(math.Sin(float64(i))) * float32(math.Exp(float64(i%41)))
	}
	e := dataset.Examples{N: n, D: d, X: x}
	want, err := columnSums(e.Stored(), nil)
	if err != nil {
		t.Fatal(err)
	}
	backwards := make([]float64, d)
	for i := n - 1; i >= 0; i-- {
		for j, v := range e.Row(i) {
			backwards[j] += float64(v)
		}
	}
	if slices.Equal(backwards, want) {
		t.Fatal("the order does not show in these sums")
	}
	for _, count := range []int{1, 2, 3, 8} {
		var wg sync.WaitGroup
		for _, r := range ranks.NewGroup(count) {
			wg.Go(func() {
				e := dataset.Stored{Examples: e, At: store.Of(store.NewRanks(t.Context(), r, n))}
				if got, err := columnSums(e, nil); err != nil || !slices.Equal(got, want) {
					t.Errorf("%d ranks: found other sums, %v", count, err)
					r.Abort(errors.New("other sums"))
				}
			})
		}
		wg.Wait()
	}
}
