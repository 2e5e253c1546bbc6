// Package centre asks by the centres of version spaces, for the papers' experiments on active
// learning: labels count as right, with a slack where they contradict each other.
package centre

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/bench/papers/centre/versionspace"
	"github.com/uma-gpu/uma-gpu/host/active"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/progress"
)

// Strategy is a rule that chooses examples to label.
type Strategy string

const (
	Random   Strategy = "random"
	Margin   Strategy = "margin"
	Ball     Strategy = "svm" // least margin at the largest ball (Tong and Koller 2001, SIMPLE)
	Centroid Strategy = "bpm" // least margin at the centroid (Louche, Algorithm 10)
)

// Options of Find. Zero values mean the defaults.
type Options struct {
	Strategy Strategy
	Seed     uint64 // of all random choices

	// Slack, 0 or more, is added to the squared length of each labelled example, as a share of the
	// mean squared length, so that the version space also has classifiers that are wrong about some
	// (Tong and Koller 2001, Section 3). With 0, DefaultSlack is used if no classifier is right about
	// all.
	Slack float64
	// Steps is the number of bounces that Centroid samples, 4096 by default. 32,768 bounces gained
	// less than the spread of six runs.
	Steps int
}

// DefaultSlack is the Slack for labels that contradict each other.
const DefaultSlack = 1. / 16

// Ask chooses up to k examples without a label: by weights w that Find returned, example i, scaled
// to length 1, is the plane ⟨v, x_i⟩ = 0 among the classifiers v, and its margin is the distance of
// the centre from it.
func Ask(p *active.Pool, e *engine.Engine, w engine.Weights, k int) ([]int, error) {
	return p.Least(e, w, func(i int) float64 { return length(p, i) }, k)
}

// span is a basis of the space that the labelled examples span. A component orthogonal to them
// changes no prediction for them, and the centre of the version space has none.
type span struct {
	p     *active.Pool
	known []int // the labelled examples
	// at has the coordinates of each known example, without trailing zeros: rows of the Cholesky
	// factor of their inner products, without columns of examples in the span of those before.
	at    [][]float64
	bases []int // the indices in known of the basis examples, one for each coordinate
	slack float64
}

// newSpan returns the span. share is Options.Slack, which gives each example a direction of its
// own.
func newSpan(p *active.Pool, share float64) *span {
	s := &span{p: p, known: p.Labelled()}
	for _, i := range s.known {
		s.slack += inner(p, i, i)
	}
	s.slack *= share / float64(len(s.known))
	for k, i := range s.known {
		row, left := s.project(i)
		left += s.slack
		if inner(p, i, i)+s.slack == 0 {
			row = nil // zeros
		}
		// Rounding leaves less of an example in the span of the others.
		if left > 1e-10*float64(inner(p, i, i)+s.slack) {
			row = append(row, math.Sqrt(left))
			s.bases = append(s.bases, k)
		}
		s.at = append(s.at, row)
	}
	return s
}

// project returns the coordinates of example i of the pool, and the squared distance from the span.
func (s *span) project(i int) (row []float64, left float64) {
	row = make([]float64, len(s.bases), len(s.bases)+1)
	left = inner(s.p, i, i)
	for c, base := range s.bases {
		b := s.at[base]
		sum := inner(s.p, i, s.known[base])
		for t := range c {
			sum -= float64(row[t] * b[t])
		}
		row[c] = sum / b[c]
		left -= float64(row[c] * row[c])
	}
	return row, max(left, 0)
}

// space returns the version space of class r against the rest.
func (s *span) space(r int32) (*versionspace.Space, error) {
	dim := len(s.bases)
	rows := make([]float64, 0, len(s.at)*dim)
	for k, row := range s.at {
		if len(row) == 0 {
			continue
		}
		sign := -1.0
		if s.p.Labels[s.known[k]] == r {
			sign = 1
		}
		end := len(rows) + dim
		for _, v := range row {
			rows = append(rows, sign*v)
		}
		rows = rows[:end]
	}
	return versionspace.New(dim, rows)
}

// addWeights adds w, given in coordinates, to weights: it is a combination of the basis examples,
// whose coefficients solve an upper triangular system. The directions that slack added are left
// out, since other examples do not extend along them.
func (s *span) addWeights(to, w []float64) {
	b := make([]float64, len(s.bases))
	for c := len(b) - 1; c >= 0; c-- {
		b[c] = w[c]
		for t := c + 1; t < len(b); t++ {
			b[c] -= float64(s.at[s.bases[t]][c] * b[t])
		}
		b[c] /= s.at[s.bases[c]][c]
	}
	for c, k := range s.bases {
		addTo(s.p, to, b[c], s.known[k])
	}
}

// Find returns the classifiers in the centres that o.Strategy names, each of length 1. Row r is
// class r against the rest; of two classes, row 0 is the negative of row 1. slack is the Slack that
// it used. At least two classes must have labels. A cancelled ctx ends it with ctx's error.
func Find(ctx context.Context, p *active.Pool, o Options) (w engine.Weights, slack float64,
	err error) {
	s, spaces, slack, err := roomy(ctx, p, o)
	if err != nil {
		return w, slack, err
	}
	q := len(p.Classes)
	w = engine.Weights{Q: q, D: p.Examples.D, W: make([]float32, q*p.Examples.D)}
	sum := make([]float64, p.Examples.D)
	ctx, task := progress.Begin(ctx, progress.Work{Name: "centres of version spaces", Unit: "class",
		Total: int64(q)})
	defer task.End()
	for r, space := range spaces {
		task.Reach(int64(r))
		if space == nil {
			continue
		}
		centre, err := s.centre(ctx, space, int32(r), o)
		if err != nil {
			return w, slack, fmt.Errorf("class %s: %w", p.Classes[r], err)
		}
		clear(sum)
		s.addWeights(sum, centre)
		for j, v := range sum {
			w.W[r*p.Examples.D+j] = float32(v)
			if q == 2 {
				w.W[j] = -w.W[p.Examples.D+j]
			}
		}
	}
	return w, slack, nil
}

// roomy returns the version space of each class, none of which is empty, and the span: with
// o.Slack, or with DefaultSlack if that is 0 and labels contradict each other. The first of two
// classes has none, since it mirrors the second.
func roomy(ctx context.Context, p *active.Pool, o Options) (
	s *span, spaces []*versionspace.Space, slack float64, err error) {
	slack = o.Slack
	_, task := progress.Begin(ctx, progress.Work{Name: "version spaces", Unit: "class",
		Total: int64(len(p.Classes))})
	defer task.End()
	for {
		if err := ctx.Err(); err != nil {
			return nil, nil, 0, err
		}
		s = newSpan(p, slack)
		if len(s.bases) == 0 {
			return nil, nil, 0, fmt.Errorf("centre: found only zeros in the %d labelled examples, wanted "+
				"one with a direction: label others, or prepare features with a bias", len(s.known))
		}
		spaces = make([]*versionspace.Space, len(p.Classes))
		empty := false
		for r := range spaces {
			task.Reach(int64(r))
			if len(spaces) == 2 && r == 0 {
				continue
			}
			if spaces[r], err = s.space(int32(r)); err != nil {
				return nil, nil, 0, err
			}
			if slack == 0 && !empty {
				_, err := spaces[r].Ball()
				empty = err != nil // or too thin for float64
			}
		}
		if !empty {
			return s, spaces, slack, nil
		}
		slack = DefaultSlack
	}
}

// centre returns the centre of the version space of class r, of length 1.
func (s *span) centre(ctx context.Context, space *versionspace.Space, r int32,
	o Options) ([]float64, error) {
	var w []float64
	if o.Strategy == Centroid {
		seed := o.Seed<<20 + uint64(len(s.known))<<8 + uint64(r)
		c, err := space.Centroid(ctx, seed, cmp.Or(o.Steps, 4096))
		if err != nil {
			return nil, err
		}
		w = c.Centre
	} else {
		ball, err := space.Ball()
		if err != nil {
			return nil, err
		}
		w = ball.Centre
	}
	square := 0.0
	for _, v := range w {
		square += float64(v * v)
	}
	for j := range w {
		w[j] /= math.Sqrt(square)
	}
	return w, nil
}

// inner returns ⟨x_i, x_j⟩.
func inner(p *active.Pool, i, j int) (sum float64) {
	if !p.Examples.Sparse() {
		b := p.Examples.Row(j)
		for k, v := range p.Examples.Row(i) {
			sum += float64(float64(v) * float64(b[k]))
		}
		return sum
	}
	columns, values := p.Examples.SparseRow(i)
	others, numbers := p.Examples.SparseRow(j)
	for k, at := 0, 0; k < len(columns) && at < len(others); {
		switch a, b := columns[k], others[at]; {
		case a < b:
			k++
		case a > b:
			at++
		default:
			sum += float64(float64(values[k]) * float64(numbers[at]))
			k++
			at++
		}
	}
	return sum
}

// addTo adds a·x_i to sum.
func addTo(p *active.Pool, sum []float64, a float64, i int) {
	columns, values := p.Examples.Entries(i)
	for k, v := range values {
		j := k
		if columns != nil {
			j = int(columns[k])
		}
		sum[j] += float64(a * float64(v))
	}
}

// length returns ‖x_i‖, or 1 for an example of zeros.
func length(p *active.Pool, i int) float64 {
	if l := math.Sqrt(inner(p, i, i)); l > 0 {
		return l
	}
	return 1
}
