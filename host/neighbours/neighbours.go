// Package neighbours finds the nearest neighbours of examples, exactly, by inner products that an
// engine computes.
package neighbours

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// ErrInput marks errors about the request; test with errors.Is.
var ErrInput = errors.New("nearest neighbours")

// Most is the largest number of neighbours of an example.
const Most = 64

// Metrics say how far examples are from each other. With the inner products of clause 1 of the
// numerics contract in float32, and all else in float64, bits are the same on every engine.
const (
	Euclidean = "euclidean" // ‖x‖² + ‖y‖² - 2⟨x,y⟩, the squared distance, at least 0
	Cosine    = "cosine"    // 1 - ⟨x/‖x‖, y/‖y‖⟩; 1 where one of them is 0
)

const (
	// tileRows and tileColumns are the examples of a tile of inner products, 32 MiB.
	tileRows, tileColumns = 8192, 1024
)

// Graph has the K nearest neighbours of each of N examples, the nearest first, those at the same
// distance by increasing index.
type Graph struct {
	N, K     int
	Index    []int32   // N×K, row-major
	Distance []float64 // N×K, by the metric
}

// Of returns the neighbours of each example of x among the others. k is at most Most and less than
// the number of examples. Each inner product is computed once for both of its examples. Errors wrap
// ErrInput, or come from the engine or ctx.
func Of(ctx context.Context, e *engine.Engine, x dataset.Examples, k int, metric string,
) (*Graph, error) {
	if k < 1 || k > min(Most, x.N-1) {
		return nil, fmt.Errorf("%w: got %d neighbours among %d examples, want 1 to %d", ErrInput, k, x.N,
			min(Most, x.N-1))
	}
	if metric != Cosine && metric != Euclidean {
		return nil, fmt.Errorf("%w: got metric %q, want %s or %s", ErrInput, metric, Euclidean, Cosine)
	}
	s := newSearch(e, &x, metric)
	s.near, s.last = newGraph(x.N, k), slices.Repeat([]float64{math.Inf(1)}, x.N)
	for column := 0; column < x.N; column += tileColumns {
		landmarks := x.Part(column, min(column+tileColumns, x.N))
		// What is left of the diagonal was computed as its reflection.
		for row := column; row < x.N; row += tileRows {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := s.tile(x.Part(row, min(row+tileRows, x.N)), landmarks, row, column); err != nil {
				return nil, err
			}
		}
	}
	return s.near, nil
}

func newGraph(n, k int) *Graph {
	return &Graph{N: n, K: k, Index: slices.Repeat([]int32{math.MaxInt32}, n*k),
		Distance: slices.Repeat([]float64{math.Inf(1)}, n*k)}
}

// put puts example j at distance d among the neighbours of i, if it is nearer than the last, and
// returns the distance of the last.
func (g *Graph) put(i, j int, d float64) float64 {
	index, distance := g.Index[i*g.K:(i+1)*g.K], g.Distance[i*g.K:(i+1)*g.K]
	at := g.K
	for ; at > 0 && (d < distance[at-1] || d == distance[at-1] && int32(j) < index[at-1]); at-- {
		if at < g.K {
			index[at], distance[at] = index[at-1], distance[at-1]
		}
	}
	if at < g.K {
		index[at], distance[at] = int32(j), d
	}
	return distance[g.K-1]
}

// search finds the neighbours near of examples: the distance of i and j is own[i] +
// own[j] - product·⟨i,j⟩, or 0 if that is less.
type search struct {
	engine  *engine.Engine
	own     []float64
	product float64
	near    *Graph
	last    []float64 // distance of the last of near, of each example
	dots    []float32
}

// newSearch returns a search among x, which it scales for cosines.
func newSearch(e *engine.Engine, x *dataset.Examples, metric string) *search {
	s := &search{engine: e, product: 2}
	if metric == Cosine {
		*x = unit(*x)
		s.own, s.product = slices.Repeat([]float64{0.5}, x.N), 1
	} else {
		s.own = squares(*x)
	}
	return s
}

// products returns the inner products of a tile of examples x and y, row by row, until the next.
func (s *search) products(x, y dataset.Examples) ([]float32, error) {
	if s.dots == nil {
		s.dots = make([]float32, tileRows*tileColumns)
	}
	dots := s.dots[:x.N*y.N]
	return dots, s.engine.Project(dots, x, engine.Projection{
		Function: kernel.Function{Kind: kernel.Linear}, Landmarks: y})
}

// distance returns the distance of examples i and j by their inner product.
func (s *search) distance(i, j int, dot float32) float64 {
	return max(s.own[i]+s.own[j]-float64(s.product*float64(dot)), 0)
}

// tile takes a tile of examples x, from first on, and y of the same, from second on.
func (s *search) tile(x, y dataset.Examples, first, second int) error {
	dots, err := s.products(x, y)
	if err != nil {
		return err
	}
	parallel.Ranges(x.N, 16, func(from, to int) {
		for i := from; i < to; i++ {
			s.row(dots[i*y.N:(i+1)*y.N], first+i, second)
		}
	})
	beyond := max(0, second+tileColumns-first) // the diagonal's block has both halves
	parallel.Ranges(y.N, 16, func(from, to int) {
		for i := beyond; i < x.N; i++ {
			s.column(dots[i*y.N+from:i*y.N+to], first+i, second+from)
		}
	})
	return nil
}

// row takes inner products of example i with examples from on for neighbours of i.
func (s *search) row(dots []float32, i, from int) {
	own, last, others := s.own[i], s.last[i], s.own[from:from+len(dots)]
	for c, dot := range dots {
		d := max(own+others[c]-float64(s.product*float64(dot)), 0)
		if d <= last && from+c != i {
			last = s.near.put(i, from+c, d)
		}
	}
	s.last[i] = last
}

// column takes them for i as a neighbour of each of these examples.
func (s *search) column(dots []float32, i, from int) {
	own, others, last := s.own[i], s.own[from:from+len(dots)], s.last[from:from+len(dots)]
	for c, dot := range dots {
		d := max(own+others[c]-float64(s.product*float64(dot)), 0)
		if d <= last[c] {
			last[c] = s.near.put(from+c, i, d)
		}
	}
}

// unit returns a copy of x whose nonzero examples have length 1.
func unit(x dataset.Examples) dataset.Examples {
	lengths := squares(x)
	u := x
	u.X, u.Values = slices.Clone(x.X), slices.Clone(x.Values)
	for i, square := range lengths {
		if square == 0 {
			continue
		}
		_, values := u.Entries(i)
		for k, v := range values {
			values[k] = float32(float64(v) / math.Sqrt(square))
		}
	}
	return u
}

// squares returns the squared length of each example, as its inner product with itself.
func squares(x dataset.Examples) []float64 {
	s := make([]float64, x.N)
	parallel.Ranges(x.N, 64, func(from, to int) {
		buffer := make([]float32, x.D)
		for i := from; i < to; i++ {
			row := x.DenseRow(buffer, i)
			s[i] = float64(numerics.Dot(row, row))
		}
	})
	return s
}
