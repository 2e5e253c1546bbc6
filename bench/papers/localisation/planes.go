package localisation

import (
	"context"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// plane is the plane ⟨w_y - w_r, x⟩ = 0 of an example x of label y and another class r.
type plane struct{ Example, Rival int32 }

// planes are the cutting planes so far, and the perceptron on them.
type planes struct {
	x dataset.Examples
	y []int32

	all    []plane
	times  []int64     // number of updates by each plane
	gram   [][]float64 // row a has the inner products of plane a with planes 0..a
	before []int64     // times before the last plane was added
	known  map[plane]bool
}

// cuts reports whether p can be added: it is new (known planes are violated by rounding only), and
// its example is not 0.
func (s *planes) cuts(p plane) bool {
	if s.known[p] {
		return false
	}
	zero := true
	s.each(p.Example, func(_ int, v float64) { zero = zero && v == 0 })
	return !zero
}

func (s *planes) add(p plane) error {
	need := memory.Product(len(s.all)+1, 8)
	if err := memory.Check(need, "the products of cutting planes with each other"); err != nil {
		return err
	}
	s.before = slices.Clone(s.times)
	s.all, s.times = append(s.all, p), append(s.times, 0)
	s.known[p] = true
	row := make([]float64, len(s.all))
	dense := make([]float64, s.x.D)
	s.each(p.Example, func(j int, v float64) { dense[j] = v })
	for b, other := range s.all {
		sum := 0.0
		s.each(other.Example, func(j int, v float64) { sum += float64(dense[j] * v) })
		row[b] = float64(sum * float64(s.sign(p, other)))
	}
	s.gram = append(s.gram, row)
	return nil
}

// takeBack undoes the last add and the updates since.
func (s *planes) takeBack() {
	last := len(s.all) - 1
	delete(s.known, s.all[last])
	s.all, s.gram, s.times = s.all[:last], s.gram[:last], s.before
}

// each calls f for the stored values of example i, in increasing order of the columns.
func (s *planes) each(i int32, f func(j int, v float64)) {
	columns, values := s.x.Entries(int(i))
	for k, v := range values {
		if columns == nil {
			f(k, float64(v))
		} else {
			f(int(columns[k]), float64(v))
		}
	}
}

// sign returns the factor from ⟨x_a, x_b⟩ to ⟨plane a, plane b⟩: a plane's vector has x in the row
// of the label and -x in the row of the rival.
func (s *planes) sign(a, b plane) (sum int) {
	if s.y[a.Example] == s.y[b.Example] {
		sum++
	}
	if a.Rival == b.Rival {
		sum++
	}
	if s.y[a.Example] == b.Rival {
		sum--
	}
	if a.Rival == s.y[b.Example] {
		sum--
	}
	return sum
}

func (s *planes) product(a, b int) float64 { return s.gram[max(a, b)][min(a, b)] }

// satisfy updates the perceptron by the plane of the lowest margin until all planes hold, or most
// updates were made.
func (s *planes) satisfy(ctx context.Context, most int) (updates int, holds bool, err error) {
	margins := make([]float64, len(s.all))
	for a := range margins {
		for b, times := range s.times {
			margins[a] += float64(float64(times) * s.product(a, b))
		}
	}
	for ; ; updates++ {
		lowest := 0
		for a, m := range margins {
			if m < margins[lowest] {
				lowest = a
			}
		}
		if margins[lowest] > 0 {
			return updates, true, nil
		}
		if updates == most {
			return updates, false, nil
		}
		if updates%1024 == 0 && ctx.Err() != nil {
			return updates, false, ctx.Err()
		}
		s.times[lowest]++
		for a := range margins {
			margins[a] += s.product(a, lowest)
		}
	}
}

// weights returns the sum of the planes, Q×D.
func (s *planes) weights(q, d int) []float32 {
	sum, w := make([]float64, q*d), make([]float32, q*d)
	for a, p := range s.all {
		times, own, rival := float64(s.times[a]), int(s.y[p.Example])*d, int(p.Rival)*d
		s.each(p.Example, func(j int, v float64) {
			sum[own+j] += float64(times * v)
			sum[rival+j] -= float64(times * v)
		})
	}
	for k, v := range sum {
		w[k] = float32(v)
	}
	return w
}
