package means

import (
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/memory"
)

// Combine returns the means of all examples, given those of parts of them and how many examples of
// each class each part has, and how many there are of each class in all (Lemma 22): ω_k = Σ_p
// (n_pk/n_k)·ω_pk. If ε_pk is how far a part's mean is from that of its examples, ω_k is no
// farther than Σ_p (n_pk/n_k)·ε_pk from that of all. Exact means of parts are those of all to the
// bit, the parts' atoms being joined in their order, and so are weights that count examples, as
// those of Clusters; others are rounded once.
//
// Parts have the same kernel function, features, classes and no offset; else the error is
// engine.ErrShape. Nothing is shared with them.
func Combine(parts []engine.Projection, sizes [][]int64) (engine.Projection, []int64, error) {
	none := engine.Projection{}
	if len(parts) == 0 || len(sizes) != len(parts) {
		return none, nil, fmt.Errorf("kernel mean: %w: found %d parts and examples of %d, wanted one "+
			"part at least", engine.ErrShape, len(parts), len(sizes))
	}
	q, atoms := parts[0].Axes.Q, 0
	all := make([]int64, q)
	for p, part := range parts {
		isOffset := slices.ContainsFunc(part.Offset, func(v float32) bool { return v != 0 })
		if part.Function != parts[0].Function || part.Axes.Q != q || len(sizes[p]) != q || q == 0 ||
			isOffset {
			return none, nil, fmt.Errorf("kernel mean: %w: found %+v, %d means and %d sizes in part %d, "+
				"wanted %+v, %d of each and no "+
				"offset", engine.ErrShape, part.Function, part.Axes.Q, len(sizes[p]), p+1, parts[0].Function, q)
		}
		for k, n := range sizes[p] {
			all[k] += n
		}
		atoms += part.Landmarks.N
	}
	what := fmt.Sprintf("the weights of %d atoms in the means of %d classes", atoms, q)
	if err := memory.Check(memory.Product(atoms, q, 4), what); err != nil {
		return none, nil, err
	}
	whole := engine.Projection{Function: parts[0].Function, Axes: engine.NewWeights(q, atoms)}
	whole.Landmarks = parts[0].Landmarks.Part(0, 0)
	from := 0
	for p, part := range parts {
		var err error
		if whole.Landmarks, err = whole.Landmarks.Join(part.Landmarks); err != nil {
			return none, nil, fmt.Errorf("kernel mean: %w: part %d: %w", engine.ErrShape, p+1, err)
		}
		for k := range q {
			for l, w := range part.Axes.Row(k) {
				whole.Axes.Row(k)[from+l] = share(w, sizes[p][k], all[k])
			}
		}
		from += part.Landmarks.N
	}
	return whole, all, nil
}

// share returns weight·n/all, rounded once. A weight that may stand for a whole number of n
// examples is taken for that.
func share(weight float32, n, all int64) float32 {
	if weight == 0 || all == 0 {
		return 0
	}
	count := float64(float64(weight) * float64(n))
	if whole := math.Round(count); float32(whole/float64(n)) == weight {
		count = whole
	}
	return float32(count / float64(all))
}
