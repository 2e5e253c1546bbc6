package means

import (
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/store"
)

// Exact returns the means of q classes by f: every example of x is an atom, with the weight 1/n_k,
// n_k the examples of its class y[i], and 0 in the other classes. A class without examples has the
// mean 0. The projection keeps references to x's slices. Errors: engine.ErrShape, engine.ErrLabel,
// engine.ErrMemory, and those of f.
func Exact(x dataset.Examples, y []int32, q int, f kernel.Function) (engine.Projection, error) {
	none := engine.Projection{}
	if err := f.Check(); err != nil {
		return none, err
	}
	sizes, err := countClasses(x, y, q)
	if err != nil {
		return none, err
	}
	what := fmt.Sprintf("the weights of %d examples in the means of %d classes", x.N, q)
	if err := memory.Check(memory.Product(x.N, q, 4), what); err != nil {
		return none, err
	}
	p := engine.Projection{Function: f, Landmarks: x, Axes: engine.NewWeights(q, x.N)}
	for i, k := range y {
		p.Axes.Row(int(k))[i] = float32(1 / float64(sizes[k]))
	}
	return p, nil
}

// countClasses judges labels, and returns how many examples each class has.
func countClasses(x dataset.Examples, y []int32, q int) ([]int, error) {
	if q < 1 || x.N < 1 || len(y) != x.N {
		return nil, fmt.Errorf("kernel mean: %w: found %d labels of %d examples and %d classes, wanted "+
			"a label for each example, at least one example and one class", engine.ErrShape, len(y), x.N, q)
	}
	sizes := make([]int, q)
	for i, k := range y {
		if k < 0 || int(k) >= q {
			return nil, fmt.Errorf("kernel mean: %w: example %d has label %d, wanted 0..%d", engine.ErrLabel,
				i, k, q-1)
		}
		sizes[k]++
	}
	return sizes, nil
}

// exactOf returns the numbers of the exact means at examples that each rank has.
func (s *sample) exactOf(at dataset.Examples) ([]float32, error) {
	if !s.x.Shared() {
		return s.project(at, s.exact)
	}
	return s.sharedMeans(at)
}

// The most numbers of chunks that a rank keeps at a time, and the least examples whose numbers are
// made together.
const (
	keptNumbers = 1 << 24
	keptRows    = 64
)

// sharedMeans is exactOf where ranks share the examples that the means are of. A number is a sum
// over these, chunk by chunk of 256 (clause 1): ranks, whose examples begin with a chunk, find
// those of their chunks at the same time, and then add them one after the other. It takes all
// ranks.
func (s *sample) sharedMeans(at dataset.Examples) ([]float32, error) {
	ends, q := s.x.At.Ends(), len(s.sizes)
	most := 0 // chunks of a rank
	for k, end := range ends[1:] {
		most = max(most, (end-ends[k]+numerics.Chunk-1)/numerics.Chunk)
	}
	rows := max(keptRows, keptNumbers/(q*most))
	means := make([]float32, at.N*q)
	for from := 0; from < at.N; from += rows {
		to := min(from+rows, at.N)
		chunks, failed := s.chunks(at.Part(from, to))
		err := store.InOrder(s.x.At, means[from*q:to*q], 16, func(sums []float32, first, last int) error {
			for _, numbers := range chunks {
				lists.Add(sums, numbers[first:last])
			}
			return failed
		})
		if err != nil {
			return nil, err
		}
	}
	return means, nil
}

// chunks returns what each chunk of this rank's examples adds to the means at some examples. The
// engine is given several chunks at once, each with axes of its own that are 0 for the others,
// which changes no bit of a sum.
func (s *sample) chunks(at dataset.Examples) (numbers [][]float32, err error) {
	first, _ := s.x.Own()
	e, own := engine.Own(s.e, s.x)
	q := len(s.sizes)
	for from, step := 0, numerics.Chunk*chunksTogether(own.D, q); from < own.N; from += step {
		if err := s.ctx.Err(); err != nil {
			return nil, err
		}
		p := engine.Projection{Function: s.o.Function, Landmarks: own.Part(from, min(from+step, own.N))}
		p.Axes = s.weights(first+from, p.Landmarks.N)
		together, width := make([]float32, at.N*p.Width()), p.Width()
		if err := e.Project(together, at, p); err != nil {
			return nil, err
		}
		for c := 0; c < width; c += q {
			of := make([]float32, at.N*q)
			for i := range at.N {
				copy(of[i*q:(i+1)*q], together[i*width+c:])
			}
			numbers = append(numbers, of)
		}
	}
	return numbers, nil
}

// chunksTogether is how many chunks the engine is given at once, of examples with d features and q
// classes: each time it finds the lengths of all examples that the means are at, which takes six
// tenths of a chunk's time, and each axis takes as long as a feature.
func chunksTogether(d, q int) int { return max(1, int(math.Sqrt(0.6*float64(d)/float64(q)))) }

// weights returns what Exact gives to n examples from the first on, with axes of their own
// for each chunk.
func (s *sample) weights(first, n int) engine.Weights {
	q := len(s.sizes)
	w := engine.NewWeights((n+numerics.Chunk-1)/numerics.Chunk*q, n)
	for i := range n {
		k := s.y[first+i]
		w.Row(i/numerics.Chunk*q + int(k))[i] = float32(1 / float64(s.sizes[k]))
	}
	return w
}
