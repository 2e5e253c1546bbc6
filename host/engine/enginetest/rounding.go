package enginetest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// checkRounding has weights that change by next to nothing, and scores that change by
// thirty times the unit of their last place all the same: where the products of an example and
// the weights of class 0 are a little less than half that unit, each is lost when it is added to
// 1, and where they are a little more, each counts for twice what it is. An
// engine that bounds how far scores have moved must reckon with it.
func checkRounding(e engine.Engine) error {
	const n, d, q, part = 320, 256, 3, 0x1p-12
	rng := rand.New(rand.NewPCG(12, 24))
	x := dataset.Examples{N: n, D: d, X: make([]float32, n*d)}
	y := make([]int32, n)
	for i := range n {
		y[i] = int32(rng.IntN(q))
		row := x.Row(i)
		if i%10 != 3 { // such as are in region 2 for good
			row[1] = -float32(1 + rng.IntN(3))
			continue
		}
		size := float32(math.Ldexp(1, rng.IntN(3)))
		row[0] = size
		for j := 1; j < d; j++ {
			row[j] = size * part
		}
	}
	return guarded(x.Stored(), y, nil, func(gx dataset.Stored, gy []int32, _ []float32) error {
		r, err := e.LoadCells(gx, gy, q, numerics.FixedPoint{})
		if err != nil {
			return err
		}
		v, w := newNaive(x, y, q), engine.NewWeights(q, d)
		w.Row(0)[0], w.Row(1)[0] = 1, 1+0x1p-16 // class 0 is above after every other step
		w.Row(2)[1] = -1
		changed, before := []int{0, 1, 2}, int64(-1)
		for step := range 6 {
			tiny := float32(part * (1 - 0x1p-13))
			if step%2 == 1 {
				tiny = part * (1 + 0x1p-13)
			}
			for j := 1; j < d; j++ {
				w.Row(0)[j] = tiny
			}
			v.rescore(w, changed)
			if err := r.Rescore(w, changed); err != nil {
				return err
			}
			want := v.assign(0)
			got, err := r.Assign(0)
			if err != nil {
				return err
			}
			if err := sameAssignment(got, want); err != nil {
				return fmt.Errorf("step %d: %w", step, err)
			}
			if first := want.Predicted[0] + want.Predicted[1] + want.Predicted[2]; first == before {
				return fmt.Errorf("step %d: %d examples are predicted 0, as before: this case tests nothing",
					step, first)
			} else {
				before = first
			}
			changed = []int{0}
		}
		return r.Close()
	})
}
