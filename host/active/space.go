package active

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/progress"
	"github.com/uma-gpu/uma-gpu/internal/lists"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/internal/versionspace"
)

// span are coordinates for what the labelled examples span. What is orthogonal to them changes no
// classifier of the version space, and its centre has none of it.
type span struct {
	p     *Pool
	known []int
	// at has the coordinates of each known example, of up to dim numbers; those behind are 0: rows of
	// Cholesky's factor of the inner products, without columns of examples that those before them
	// span.
	at    [][]float64
	bases []int // which of known span, dim of them, one a column
	slack float64
}

// newSpan returns the coordinates, with slack added to the squared length of each example, which
// gives each a direction of its own.
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
			row = nil // zeros, which every classifier scores alike
		}
		// Less than that is what rounding leaves of an example that others span.
		if left > 1e-10*float64(p.inner(i, i)+s.slack) {
			row = append(row, math.Sqrt(left))
			s.bases = append(s.bases, k)
		}
		s.at = append(s.at, row)
	}
	return s
}

// project returns the coordinates of example i of the pool by the bases so far, and the square of
// what they leave of it.
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

// space returns the version space of class r against the rest, in dim dimensions at least as many
// as the bases, with further constraints behind those of the known examples.
func (s *span) space(r int32, dim int, more ...[]float64) (*versionspace.Space, error) {
	rows := make([]float64, 0, (len(s.at)+len(more))*dim)
	add := func(row []float64, sign float64) {
		end := len(rows) + dim
		for _, v := range row {
			rows = append(rows, sign*v)
		}
		rows = rows[:end]
	}
	for k, row := range s.at {
		if len(row) == 0 {
			continue
		}
		sign := -1.0
		if s.p.Labels[s.known[k]] == r {
			sign = 1
		}
		add(row, sign)
	}
	for _, row := range more {
		add(row, 1)
	}
	return versionspace.New(dim, rows)
}

// addWeights adds a·w to the weights of a class: w in coordinates is the combination of the bases'
// examples whose coefficients solve an upper triangular system. What slack has added is left out,
// since other examples have nothing of it.
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

// Centre returns the classifiers that SVM, MaxMin and Ratio (centre of the largest ball), Analytic
// (analytic centre) or BPM (centroid) ask by, of length 1 each: row r is class r against the rest,
// and of two classes row 0 is the negative of row 1. slack is the share that it took. Two classes
// at least have labels.
func (p *Pool) Centre(o Options) (w engine.Weights, slack float64, err error) {
	return p.centre(context.Background(), o)
}

// centre is Centre until ctx ends, as far as centroids are sampled.
func (p *Pool) centre(ctx context.Context, o Options) (w engine.Weights, slack float64, err error) {
	o = o.filled()
	s, spaces, slack, err := p.roomy(ctx, o)
	if err != nil {
		return w, slack, err
	}
	q := len(p.Classes)
	w = engine.Weights{Q: q, D: p.D, W: make([]float32, q*p.D)}
	sum := make([]float64, p.D)
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
			w.W[r*p.D+j] = float32(v)
			if q == 2 {
				w.W[j] = -w.W[p.D+j]
			}
		}
	}
	return w, slack, nil
}

// roomy returns the coordinates in which the version space of each class has an inside, and these
// spaces: by o.Slack, or by DefaultSlack where that is 0 and labels contradict each other. Of two
// classes the first has none, nil, since it mirrors the other.
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
			return nil, nil, 0, fmt.Errorf("active: found zeros alone in the %d labelled examples, wanted "+
				"one with a direction: label others, or prepare features with a bias", len(s.known))
		}
		spaces = make([]*versionspace.Space, len(p.Classes))
		empty := false
		for r := range spaces {
			task.Reach(int64(r))
			if len(spaces) == 2 && r == 0 {
				continue
			}
			if spaces[r], err = s.space(int32(r), len(s.bases)); err != nil {
				return nil, nil, 0, err
			}
			if slack == 0 && !empty {
				_, err := spaces[r].Ball()
				empty = err != nil // or as thin as rounding
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
	switch o.Strategy {
	case Analytic:
		var err error
		if w, err = space.AnalyticCentre(); err != nil {
			return nil, err
		}
	case BPM:
		o.Centroid.Seed = o.Seed<<20 + uint64(len(s.known))<<8 + uint64(r)
		_, task := progress.Begin(ctx, progress.Work{
			Name: "chains", Unit: "step"})
		defer task.End()
		o.Centroid.Round = func(steps int) error { task.Reach(int64(steps)); return ctx.Err() }
		c, err := space.Centroid(o.Centroid)
		if err != nil {
			return nil, err
		}
		w = c.Centre
	default:
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

// judgeByHalves fills w for MaxMin and Ratio: of the examples that SVM would ask first, by the
// largest margins that either answer leaves. Of several classes it is the space of the predicted
// one against the rest.
func (p *Pool) judgeByHalves(ctx context.Context, o Options, w *worth) error {
	weights, slack, err := p.centre(ctx, o)
	if err != nil {
		return err
	}
	if err := p.judgeByWeights(o, weights, w); err != nil {
		return err
	}
	order := lists.UpTo[int](len(w.which))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(w.value[b], w.value[a]) })
	order = order[:min(len(order), max(o.Tried, window*o.K))]
	near := worth{tie: make([]float64, len(order)), value: make([]float64, len(order))}
	for at, k := range order {
		near.which, near.predicted = append(near.which, w.which[k]), append(near.predicted,
			w.predicted[k])
		near.tie[at] = w.value[k]
	}
	*w = near
	s := newSpan(p, slack)
	failed := make([]error, len(order))
	_, task := progress.Begin(ctx, progress.Work{
		Name: "halving version spaces", Unit: "example", Total: int64(len(order))})
	defer task.End()
	parallel.Tasks(len(order), func(at int) {
		defer task.Add(1)
		if failed[at] = ctx.Err(); failed[at] != nil {
			return
		}
		var with, against float64
		if with, against, failed[at] = s.halves(near.which[at], near.predicted[at]); failed[at] != nil {
			return
		}
		near.value[at] = min(with, against)
		if most := max(with, against); o.Strategy == Ratio && most > 0 {
			near.value[at] /= most
		}
	})
	return errors.Join(failed...)
}

// halves returns the largest margin that class r against the rest has, if example i is of class r
// and if it is not. 0 says that no classifier is right about all.
func (s *span) halves(i int, r int32) (with, against float64, err error) {
	row, left := s.project(i)
	if left += s.slack; left > 1e-10*float64(s.p.inner(i, i)+s.slack) {
		row = append(row, math.Sqrt(left))
	} else if len(row) == 0 {
		return 0, 0, nil // zeros: no answer tells anything
	}
	turned := make([]float64, len(row))
	for j, v := range row {
		turned[j] = -v
	}
	if with, err = s.margin(r, row); err != nil {
		return 0, 0, err
	}
	against, err = s.margin(r, turned)
	return with, against, err
}

func (s *span) margin(r int32, row []float64) (float64, error) {
	space, err := s.space(r, len(row), row)
	if err != nil {
		return 0, err
	}
	ball, err := space.Ball()
	if errors.Is(err, versionspace.ErrEmpty) {
		return 0, nil
	}
	return ball.Margin, err
}
