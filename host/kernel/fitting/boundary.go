package fitting

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/kernel/means"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Landmarks near boundaries are chosen from boundaryExamples examples. Candidates are drawn from
// these by weight, four for each landmark, or half of all. The weight is 1 where two classes are
// equally likely, and at least leastWeight.
const (
	boundaryExamples = 1 << 14
	candidates       = 4
	leastWeight      = 0.3
)

// boundary returns landmarks for o, indices of examples of p in increasing order. Ridge regression
// scores the examples, candidates are drawn more often near the boundary between two classes, and
// k-means++ spreads the landmarks over the candidates. r is that regression where ridgeGamma has
// made it, else nil.
func boundary(ctx context.Context, p *learners.Problem, o pca.Options, r *ridge) ([]int, error) {
	x := p.X
	if r == nil {
		drawn, err := sample(p, ridgeExamples)
		if err != nil {
			return nil, err
		}
		if r, err = regress(ctx, p, drawn, o); err != nil {
			return nil, err
		}
	}
	rng := rand.New(rand.NewPCG(o.Seed, 0x6564676573)) // "edges"
	pool := rng.Perm(x.N)[:min(x.N, boundaryExamples)]
	some := x.Pick(pool)
	z, err := r.basis.Components(ctx, p.Engine, some)
	if err != nil {
		return nil, err
	}
	count := min(candidates*o.Landmarks, max(o.Landmarks, len(pool)/2))
	places := systematic(r.weighed(z), count, rng.Float64())
	which := lists.At(pool, places)
	if len(which) > o.Landmarks {
		cover, err := means.NewCover(ctx, p.Engine, some.Pick(places), o.Function, o.Landmarks,
			false, o.Seed, nil)
		if err != nil {
			return nil, err
		}
		which = lists.At(which, cover.Rows)
	}
	slices.Sort(which)
	return which, nil
}

// weighed returns the weight of each row of z: 1 less the difference of the probabilities of its
// two likeliest classes.
func (r *ridge) weighed(z dataset.Examples) []float64 {
	w, weights := r.weights(r.lambda, -1), make([]float64, z.N)
	parallel.Ranges(z.N, 64, func(from, to int) {
		x, p := make([]float64, r.d), make([]float32, r.q)
		for i := from; i < to; i++ {
			withOne(x, z.Row(i))
			for c := range p {
				score := numerics.Dot64(w[c*r.d:(c+1)*r.d], x)
				p[c] = r.sharp * sharpness * float32(score)
			}
			numerics.Softmax(p, p)
			slices.Sort(p)
			weights[i] = max(leastWeight, 1-float64(p[r.q-1]-p[r.q-2]))
		}
	})
	return weights
}

// systematic draws count indices, or all if there are fewer, in increasing order, by systematic
// sampling: at equal steps of the running sum of weights, starting at u steps. An index is drawn
// only once.
func systematic(weights []float64, count int, u float64) []int {
	rest := lists.Sum(weights)
	var which []int
	for i, w := range weights {
		left, places := count-len(which), len(weights)-i
		if left == 0 {
			break
		}
		step := rest / float64(left)
		rest -= w
		if u += w / step; u >= 1 || left == places {
			which, u = append(which, i), max(0, min(u-1, 0.999))
		}
	}
	return which
}
