package file

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/dataset"
)

// TestPartAndPick takes examples out of dense and sparse ones and compares rows.
func TestPartAndPick(t *testing.T) {
	dense := randomDataset(rand.New(rand.NewPCG(3, 1)), 40, 9, []string{"a", "b"}).Examples
	sparse := dense.Compressed()
	before := sparse.Dense()
	same := func(what string, got dataset.Examples, which []int) {
		t.Helper()
		if err := got.Check(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if got.N != len(which) || got.D != dense.D {
			t.Fatalf("%s: shape %d×%d", what, got.N, got.D)
		}
		all := got.Dense()
		for k, i := range which {
			if !reflect.DeepEqual(all.Row(k), dense.Row(i)) {
				t.Errorf("%s: row %d is %v, wanted %v", what, k, all.Row(k), dense.Row(i))
			}
		}
	}
	for _, r := range [][2]int{{0, 40}, {0, 0}, {40, 40}, {7, 8}, {13, 31}} {
		var which []int
		for i := r[0]; i < r[1]; i++ {
			which = append(which, i)
		}
		same("part", dense.Part(r[0], r[1]), which)
		same("sparse part", sparse.Part(r[0], r[1]), which)
	}
	for _, which := range [][]int{{}, {39}, {5, 5, 0, 38}} {
		same("pick", dense.Pick(which), which)
		same("sparse pick", sparse.Pick(which), which)
	}
	dense.Pick([]int{3}).X[0] = 77
	if p := sparse.Pick([]int{3}); len(p.Values) > 0 {
		p.Values[0] = 77
	}
	if !reflect.DeepEqual(sparse.Dense(), before) {
		t.Error("Pick shares memory")
	}
}
