package online

import (
	"context"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/learners/internal/lanes"
)

// learn shows the policy those examples whose turn is from..to-1.
func (p *pass) learn(from, to int) error {
	x, s := p.Problem.X, &p.next
	tau, scores := make([]float32, p.Problem.Q), make([]float32, p.Problem.Q)
	for at := from; at < to; at++ {
		i := int(p.order[at])
		row := rowOf(x, i)
		if at+2 < len(p.order) {
			lanes.Prefetch(rowOf(x, int(p.order[at+2])))
		}
		s.w.Scores(scores, row)
		clear(tau)
		moved, err := p.see(i, scores, tau)
		if err != nil {
			return err
		}
		if moved {
			s.w.Add(tau, row)
			if s.late != nil && s.seen > 0 {
				s.late.Add(float64(s.seen), tau, row)
			}
		}
		s.seen++
	}
	s.w.Flush() // while the examples are in a cache
	if s.late != nil {
		s.late.Flush()
	}
	return nil
}

// learnAll shows the policy all examples, a few after another.
func (p *pass) learnAll(ctx context.Context) error {
	n, few := len(p.order), together(p.Problem.X)
	for from := 0; from < n; from += few {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := p.learn(from, min(n, from+few)); err != nil {
			return err
		}
	}
	return nil
}

// cache is how many bytes of examples wait to be added to the sums of an average.
const cache = 1 << 18

// together is how many examples are seen before they are added to the sums: what stays in a cache
// meanwhile, and at most those after which a pass has to ask whether it is still wanted.
func together(x dataset.Examples) int {
	size := 4 * x.D
	if x.Sparse() && x.N > 0 {
		size = 8 * len(x.Values) / x.N
	}
	return min(1024, 1+cache/max(1, size))
}
