package means

import (
	"context"
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
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

// The tiles of kernel values in which pairMeans goes through the pairs: whole chunks of examples
// both ways.
const (
	pairRows    = 32 * numerics.Chunk
	pairColumns = 8 * numerics.Chunk
)

// pairFeatures is how many features make a kernel value dear enough to be computed once, and added
// twice on the host, where that takes as long as some 400 features do; pairExamples how many
// examples make the tiles on the diagonal, which are computed whole, few.
const (
	pairFeatures = 512
	pairExamples = 8 * pairColumns
)

// meansOf returns the mean of the kernel values of each of the examples x with all of them.
func (s *sample) meansOf(x dataset.Examples) ([]float32, error) {
	stored, share := x.N*x.D, float32(1/float64(x.N))
	if x.Sparse() {
		stored = len(x.Values)
	}
	if x.N >= pairExamples && stored >= pairFeatures*x.N {
		return pairMeans(s.ctx, s.e, x, s.o.Function, share, pairRows, pairColumns)
	}
	p := engine.Projection{Function: s.o.Function, Landmarks: x, Axes: engine.NewWeights(1, x.N)}
	for l := range p.Axes.W {
		p.Axes.W[l] = share
	}
	return s.project(x, p)
}

// pairBytes returns how much memory a tile of pairMeans of n examples takes at most.
func pairBytes(n int) int64 { return memory.Product(min(n, pairRows), min(n, pairColumns), 4) }

// pairMeans returns Σ_l f(x_i,x_l)·w of each of the examples x: the numbers of a projection whose
// landmarks are x itself and whose axis is w everywhere, to the bit, by half its kernel values. Of
// f(a,b) and f(b,a), which have the same bits (fma and + care for no order of two factors or
// terms), an engine computes one in tiles of rows × columns, multiples of numerics.Chunk, or all
// that there are. A tile's rows are no earlier examples than its columns are, and tiles come by
// columns, then by rows: so each example meets the others chunk by chunk in the order of clause 1.
// A cancelled ctx ends it with ctx's error; other errors are those of Engine.Project.
func pairMeans(
	ctx context.Context, e engine.Engine, x dataset.Examples, f kernel.Function, w float32, rows,
	columns int) ([]float32, error) {
	sums := make([]float32, x.N)
	tile := make([]float32, max(min(x.N, columns), min(max(0, x.N-columns), rows))*min(x.N, columns))
	for first := 0; first < x.N; first += columns {
		last := min(first+columns, x.N)
		p := engine.Projection{Function: f, Landmarks: x.Part(first, last)}
		for from, to := first, last; from < x.N; from, to = to, min(to+rows, x.N) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			values := tile[:(to-from)*(last-first)]
			if err := e.Project(values, x.Part(from, to), p); err != nil {
				return nil, fmt.Errorf("of the examples from %d on: %w", from, err)
			}
			addRows(sums[from:to], values, w)
			if from > first {
				addColumns(sums[first:last], values, w)
			}
		}
	}
	return sums, nil
}

// addRows adds to sums, of the rows of values, w times what stands in each, by the rule of clause
// 1.
func addRows(sums, values []float32, w float32) {
	const together = 4 // sums that do not wait for one another
	n, w64 := len(values)/len(sums), float64(w)
	parallel.Ranges((len(sums)+together-1)/together, 16, func(from, to int) {
		for first := from * together; first < min(to*together, len(sums)); first += together {
			var rows [together][]float32
			for k := range rows {
				at := min(first+k, len(sums)-1)
				rows[k] = values[at*n : (at+1)*n]
			}
			for l := 0; l < n; l += numerics.Chunk {
				end := min(l+numerics.Chunk, n)
				a := rows[0][l:end]
				b, c, d := rows[1][l:end][:len(a)], rows[2][l:end][:len(a)], rows[3][l:end][:len(a)]
				var acc [together]float32
				for j, v := range a {
					s0, s1 := float64(v)*w64+float64(acc[0]), float64(b[j])*w64+float64(acc[1])
					s2, s3 := float64(c[j])*w64+float64(acc[2]), float64(d[j])*w64+float64(acc[3])
					if numerics.Plain(s0) && numerics.Plain(s1) && numerics.Plain(s2) && numerics.Plain(s3) {
						acc = [together]float32{float32(s0), float32(s1), float32(s2), float32(s3)}
						continue
					}
					acc = [together]float32{numerics.FMA(v, w, acc[0]), numerics.FMA(b[j], w, acc[1]),
						numerics.FMA(c[j], w, acc[2]), numerics.FMA(d[j], w, acc[3])}
				}
				for k := range min(together, len(sums)-first) {
					sums[first+k] += acc[k]
				}
			}
		}
	})
}

// addColumns is addRows for the columns of values.
func addColumns(sums, values []float32, w float32) {
	n, w64 := len(sums), float64(w)
	parallel.Ranges(n, 64, func(from, to int) {
		acc := make([]float32, to-from)
		for first := 0; first < len(values); first += numerics.Chunk * n {
			clear(acc)
			chunk := values[first:min(first+numerics.Chunk*n, len(values))]
			for ; len(chunk) > 0; chunk = chunk[n:] {
				row := chunk[from:to][:len(acc)]
				for k, v := range row {
					if s := float64(v)*w64 + float64(acc[k]); numerics.Plain(s) {
						acc[k] = float32(s)
					} else {
						acc[k] = numerics.FMA(v, w, acc[k])
					}
				}
			}
			for k, v := range acc {
				sums[from+k] += v
			}
		}
	})
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
				for i, v := range numbers[first:last] {
					sums[i] += v
				}
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
