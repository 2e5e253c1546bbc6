package means

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/featurespace"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/memory"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// Compressed are functions of feature space by fewer landmarks.
type Compressed struct {
	engine.Projection       // the landmarks kept, and a row of weights for each function
	Rows              []int // which landmarks they were, in the order in which they were taken
	// Error is ‖f_q - f̂_q‖ in feature space and Length ‖f_q‖, of each function. At an example x
	// numbers differ by at most Error·√κ(x,x). What is left of float32 sums, some 0.003 of Length,
	// cannot be told from 0.
	Error, Length []float64
}

// Compress finds at most atoms of p's landmarks whose span comes near to p's functions, the rows
// of Axes, and in that span the nearest to each of them. Landmarks are taken one by one, each the
// one that takes most off Σ_q Error² beside those before it: (Σ_q r_q(x)²)/P(x), r_q what is left
// of f_q and P of κ(x,x) (the f/P-greedy rule of Wirtz and Haasdonk, A vectorial kernel orthogonal
// greedy algorithm, 2013). There are fewer if they stand for all. A cancelled ctx ends it with
// ctx's error. Other errors: ErrOptions, of more atoms than landmarks, and those of
// Engine.Project. The weights are the same on every engine and processor.
func Compress(ctx context.Context, e engine.Engine, p engine.Projection, atoms int,
) (*Compressed, error) {
	n, q := p.Landmarks.N, p.Axes.Q
	if atoms < 1 || atoms > n {
		return nil, fmt.Errorf("compress: %w: found %d atoms, wanted 1 to %d, as many as there are "+
			"landmarks", ErrOptions, atoms, n)
	}
	what := fmt.Sprintf("%d columns of a factor of %d landmarks", atoms, n)
	if err := memory.Check(memory.Product(n, atoms+q+2, 8), what); err != nil {
		return nil, err
	}
	s := sample{ctx: ctx, e: e}
	functions := p
	functions.Offset = nil
	values, err := s.project(p.Landmarks, functions)
	if err != nil {
		return nil, err
	}
	c := &Compressed{Length: make([]float64, q)}
	for l := range n {
		for k := range q {
			c.Length[k] += float64(float64(p.Axes.Row(k)[l]) * float64(values[l*q+k]))
		}
	}
	g := &greedy{n: n, q: q, stride: atoms, left: lists.As[float64](values),
		rest: featurespace.SquaredLengths(p.Function, p.Landmarks), columns: make([]float64, n*atoms)}
	g.largest = max(0, slices.Max(g.rest))
	total := 0.0
	for _, v := range c.Length {
		total += max(0, v)
	}
	g.far = total
	_, task := progress.Begin(ctx, progress.Work{
		Name: "choosing landmarks", Unit: "landmark", Total: int64(atoms)})
	defer task.End()
	for len(g.order) < atoms && (len(g.order) == 0 || g.far > rounding*total) {
		best := g.best()
		if best < 0 {
			break
		}
		row, err := s.project(p.Landmarks, engine.Projection{Function: p.Function,
			Landmarks: p.Landmarks.Pick([]int{best})})
		if err != nil {
			return nil, err
		}
		g.take(best, row)
		task.Add(1)
	}
	if len(g.order) == 0 {
		return nil, fmt.Errorf("compress: %w: found functions that are all 0, or that overflow float32",
			ErrOptions)
	}
	c.Rows = g.order
	c.Projection = engine.Projection{Function: p.Function, Landmarks: p.Landmarks.Pick(c.Rows),
		Axes: engine.NewWeights(q, len(c.Rows)), Offset: p.Offset}
	l := g.factor()
	for k := range q {
		l.backward(c.Axes.Row(k), g.solved[k])
		c.Length[k] = math.Sqrt(max(0, c.Length[k]))
	}
	c.Error, err = s.distances(p, values, c)
	return c, err
}

// distances returns ‖f - f̂‖ of each function, given the numbers of p at its landmarks: with r = f
// - f̂, ‖r‖² = ⟨r, f⟩ - ⟨r, f̂⟩ is a sum over landmarks of weights times r.
func (s *sample) distances(p engine.Projection, values []float32, c *Compressed,
) ([]float64, error) {
	near := c.Projection
	near.Offset = nil
	found, err := s.project(p.Landmarks, near)
	if err != nil {
		return nil, err
	}
	q := p.Axes.Q
	left := func(l, k int) float64 { return float64(values[l*q+k]) - float64(found[l*q+k]) }
	far := make([]float64, q)
	for k := range far {
		for l, w := range p.Axes.Row(k) {
			far[k] += float64(float64(w) * left(l, k))
		}
		for t, row := range c.Rows {
			far[k] -= float64(float64(c.Axes.Row(k)[t]) * left(row, k))
		}
		far[k] = math.Sqrt(max(0, far[k]))
	}
	return far, nil
}

// rounding is what float32 sums leave of squared lengths, about.
const rounding = 1e-7

// apart is how much of a landmark must be left beside those taken, of the largest squared length.
// It is more than the tolerance of factor, which takes the landmarks with the largest rest first:
// here one of little may come early, and what float32 rounds grows by 1/√apart.
const apart = 1e-4

// greedy has an orthonormal basis of the span of the landmarks taken, and what is beside it.
type greedy struct {
	n, q, stride int
	left         []float64 // n×q: what is left of each function, at each landmark
	rest         []float64 // n: what is left of κ(x,x)
	columns      []float64 // n×stride: the basis at each landmark, as many columns as are taken
	largest      float64
	far          float64 // Σ_q Error²
	order        []int
	solved       [][]float64 // of each function, its part of each vector of the basis
}

// best returns the landmark that takes most off, the first of equal ones, -1 if none does.
func (g *greedy) best() int {
	at, most := -1, 0.0
	for i, rest := range g.rest {
		if !(rest > apart*g.largest) {
			continue
		}
		sum := 0.0
		for _, v := range g.left[i*g.q : (i+1)*g.q] {
			sum += float64(v * v)
		}
		// Nothing takes off more than there is; what seems to has little beside rounding left of itself,
		// but for the first one, which may stand for all.
		if gain := sum / rest; gain > most && (gain <= g.far || len(g.order) == 0) {
			at, most = i, gain
		}
	}
	return at
}

// take takes landmark at; values are its κ with all.
func (g *greedy) take(at int, values []float32) {
	t, pivot := len(g.order), math.Sqrt(g.rest[at])
	own := append([]float64(nil), g.columns[at*g.stride:at*g.stride+t]...)
	share := make([]float64, g.q)
	if g.solved == nil {
		g.solved = make([][]float64, g.q)
	}
	for k := range share {
		share[k] = g.left[at*g.q+k] / pivot
		g.solved[k] = append(g.solved[k], share[k])
		g.far -= float64(share[k] * share[k])
	}
	parallel.Ranges(g.n, 256, func(from, to int) {
		for i := from; i < to; i++ {
			row := g.columns[i*g.stride : i*g.stride+t+1]
			v := (float64(values[i]) - dot(row[:t], own)) / pivot
			row[t] = v
			g.rest[i] -= float64(v * v)
			for k, s := range share {
				g.left[i*g.q+k] -= float64(s * v)
			}
		}
	})
	g.columns[at*g.stride+t] = pivot
	g.rest[at] = 0
	g.order = append(g.order, at)
}

// factor returns the basis at the landmarks taken, which is lower triangular.
func (g *greedy) factor() lower {
	m := len(g.order)
	l := lower{n: m, stride: m, a: make([]float64, m*m)}
	for t, at := range g.order {
		copy(l.a[t*m:t*m+t+1], g.columns[at*g.stride:])
	}
	return l
}

// Rounding returns by how much rounding each weight of p to float32 moves the function of its row
// in feature space at most: Σ_l |β_l|·2⁻²⁴·√κ(l,l).
func Rounding(p engine.Projection) []float64 {
	lengths := featurespace.SquaredLengths(p.Function, p.Landmarks)
	most := make([]float64, p.Axes.Q)
	for k := range most {
		for l, w := range p.Axes.Row(k) {
			most[k] += math.Abs(float64(w)) * 0x1p-24 * math.Sqrt(lengths[l])
		}
	}
	return most
}
