package kernelmean

import (
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// exactOf returns the numbers of the exact means at some examples, of which a rank has all.
func (s *sample) exactOf(at dataset.Examples) ([]float32, error) {
	if s.exact.Landmarks.Share == nil {
		return s.project(at, s.exact)
	}
	return s.sharedMeans(at)
}

// meanRows is the least number of examples whose means go from rank to rank together.
const meanRows = 64

// sharedMeans is exactOf where ranks share the examples that the means are of. A number is a sum over these, chunk by
// chunk of 256 (clause 1): ranks, whose examples begin with a chunk, add theirs one after the other, in groups of the
// examples that the means are at. It takes all ranks.
func (s *sample) sharedMeans(at dataset.Examples) ([]float32, error) {
	x, q := s.exact.Landmarks, len(s.sizes)
	from, _ := x.Own()
	e, own := engine.Own(s.e, x)
	means := make([]float32, at.N*q)
	return means, dataset.InOrder(x.Share, means, meanRows*q, func(sums []float32, first, last int) error {
		some, product := at.Part(first/q, last/q), make([]float32, last-first)
		for c := 0; c < own.N; c += numerics.Chunk {
			if err := s.ctx.Err(); err != nil {
				return err
			}
			p := engine.Projection{Function: s.o.Function, Landmarks: own.Part(c, min(c+numerics.Chunk, own.N))}
			p.Axes = s.weights(from+c, p.Landmarks.N)
			if err := e.Project(product, some, p); err != nil {
				return err
			}
			for i, v := range product {
				sums[i] += v
			}
		}
		return nil
	})
}

// weights returns those that Exact gives to n examples from the first on.
func (s *sample) weights(first, n int) engine.Weights {
	w := engine.NewWeights(len(s.sizes), n)
	for i := range n {
		k := s.y[first+i]
		w.Row(int(k))[i] = float32(1 / float64(s.sizes[k]))
	}
	return w
}
