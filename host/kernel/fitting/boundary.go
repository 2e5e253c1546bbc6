package fitting

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/kernel/means"
	"github.com/uma-gpu/uma-gpu/host/kernel/pca"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Landmarks near boundaries are chosen among boundaryExamples examples. Of these some are drawn by
// weight, candidates for each landmark, or half of all. A weight is 1 where two classes are as
// likely, and never below leastWeight.
const (
	boundaryExamples = 1 << 14
	candidates       = 4
	leastWeight      = 0.3
)

// boundary returns landmarks for o, places of examples of p, increasing. Candidates are drawn more
// often the nearer they are to the boundary between two classes, as ridge regression has it.
// k-means++ chooses among them, so that landmarks stand for all places.
func boundary(ctx context.Context, p *learners.Problem, o pca.Options) ([]int, error) {
	x := p.X
	b, r, err := regress(ctx, p, sample(p, ridgeExamples), o)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(o.Seed, 0x6564676573)) // "edges"
	pool := rng.Perm(x.N)[:min(x.N, boundaryExamples)]
	some := x.Pick(pool)
	z, err := b.Components(ctx, p.Engine, some)
	if err != nil {
		return nil, err
	}
	count := min(candidates*o.Landmarks, max(o.Landmarks, len(pool)/2))
	drawn := systematic(r.weighed(z, p), count, rng.Float64())
	which := lists.At(pool, drawn)
	if len(which) > o.Landmarks {
		cover, err := means.NewCover(ctx, p.Engine, some.Pick(drawn), o.Function, o.Landmarks,
			false, o.Seed, nil)
		if err != nil {
			return nil, err
		}
		which = lists.At(which, cover.Rows)
	}
	slices.Sort(which)
	return which, nil
}

// weighed returns a weight of each row of z: 1 less what the likeliest class is ahead of the
// second. Classes are the true ones of p, or those of the labels if C has no inverse.
func (r *ridge) weighed(z dataset.Examples, p *learners.Problem) []float64 {
	w := r.weights(r.lambda, -1)
	if inverse, err := p.Inverse(); err == nil {
		of := w
		w = make([]float64, r.q*r.d)
		for c, v := range of {
			for t := range r.q {
				w[t*r.d+c%r.d] += float64(inverse.V[t*r.q+c/r.d] * v)
			}
		}
	}
	weights := make([]float64, z.N)
	parallel.Ranges(z.N, 64, func(from, to int) {
		x, scores := make([]float64, r.d), make([]float64, r.q)
		for i := from; i < to; i++ {
			withOne(x, z.Row(i))
			for c := range scores {
				scores[c] = dot(w[c*r.d:(c+1)*r.d], x)
			}
			slices.Sort(scores)
			weights[i] = max(leastWeight, 1-(scores[r.q-1]-scores[r.q-2]))
		}
	})
	return weights
}

// systematic returns count places, or all if there are no more, increasing: at even steps of the
// sum of weights from a share u of a step on. A weight above a step is taken once, and the steps go
// on after it.
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
