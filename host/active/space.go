package active

import (
	"context"
	"fmt"
	"math"

	"github.com/uma-gpu/uma-gpu/host/active/versionspace"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/progress"
)

// span is a basis of the space that the labelled examples span. A component orthogonal to them
// changes no prediction for them, and the centre of the version space has none.
type span struct {
	p     *Pool
	known []int // the labelled examples
	// at has the coordinates of each known example, without trailing zeros: rows of the Cholesky
	// factor of their inner products, without columns of examples in the span of those before.
	at    [][]float64
	bases []int // the indices in known of the basis examples, one for each coordinate
	slack float64
}

// newSpan returns the span. share is Options.Slack, which gives each example a direction of its
// own.
func newSpan(p *Pool, share float64) *span {
	s := &span{p: p, known: p.labelled()}
	for _, i := range s.known {
		s.slack += p.inner(i, i)
	}
	s.slack *= share / float64(len(s.known))
	for k, i := range s.known {
		row, left := s.project(i)
		left += s.slack
		if p.inner(i, i)+s.slack == 0 {
			row = nil // zeros
		}
		// Rounding leaves less of an example in the span of the others.
		if left > 1e-10*float64(p.inner(i, i)+s.slack) {
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
	left = s.p.inner(i, i)
	for c, base := range s.bases {
		b := s.at[base]
		sum := s.p.inner(i, s.known[base])
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
		s.p.addTo(to, b[c], s.known[k])
	}
}

// Centre returns the classifiers of strategy SVM (centre of the largest ball) or BPM (centroid),
// each of length 1. Row r is class r against the rest; of two classes, row 0 is the negative of row
// 1. slack is the Slack that it used. At least two classes must have labels. A cancelled ctx ends
// it with ctx's error.
func (p *Pool) Centre(ctx context.Context, o Options) (w engine.Weights, slack float64,
	err error) {
	o = o.filled()
	s, spaces, slack, err := p.roomy(ctx, o)
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
func (p *Pool) roomy(ctx context.Context, o Options) (
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
			return nil, nil, 0, fmt.Errorf("active: found only zeros in the %d labelled examples, wanted "+
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
	if o.Strategy == BPM {
		seed := o.Seed<<20 + uint64(len(s.known))<<8 + uint64(r)
		c, err := space.Centroid(ctx, seed, o.Steps)
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
