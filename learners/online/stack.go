package online

import (
	"context"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/learners/internal/lanes"
)

// stack is passes that see each example at the same time. The classes of all are those of one W,
// so that they fill the vectors that those of one would not, and what does not depend on W is done
// once.
type stack struct {
	passes      []*pass
	w           *lanes.Weights // of all
	late        *lanes.Late    // likewise; nil without an average
	tau, scores []float32      // of all
}

// alone is the stack of a pass, whose weights it has.
func alone(p *pass) *stack {
	q := p.Problem.Q
	return &stack{[]*pass{p}, p.next.w, p.next.late, make([]float32, q), make([]float32, q)}
}

// newStack has copies of the weights of passes until it is taken apart.
func newStack(passes []*pass) *stack {
	if len(passes) == 1 {
		return alone(passes[0])
	}
	d, all := passes[0].Problem.X.D, len(passes)*passes[0].Problem.Q
	s := &stack{passes: passes, w: lanes.New(all, d, false), tau: make([]float32, all),
		scores: make([]float32, all)}
	w, sums := s.copies(passes[0].next.late != nil, (*lanes.Weights).Get, (*lanes.Late).Get)
	s.w.Set(w)
	if sums != nil {
		s.late = lanes.NewLate(all, d, false)
		s.late.Set(sums)
	}
	return s
}

// part gives the passes their weights back.
func (s *stack) part() {
	if len(s.passes) > 1 {
		s.copies(s.late != nil, (*lanes.Weights).Set, (*lanes.Late).Set)
	}
}

// copies returns the weights of all and, with an average, their sums. w and late exchange those of
// a pass with its part.
func (s *stack) copies(average bool, w func(*lanes.Weights, []float32),
	late func(*lanes.Late, []float64)) (weights []float32, sums []float64) {
	size := s.passes[0].Problem.Q * s.passes[0].Problem.X.D
	weights = make([]float32, len(s.passes)*size)
	s.w.Get(weights)
	if average {
		sums = make([]float64, len(weights))
	}
	if s.late != nil {
		s.late.Get(sums)
	}
	for k, p := range s.passes {
		w(p.next.w, weights[k*size:(k+1)*size])
		if average {
			late(p.next.late, sums[k*size:(k+1)*size])
		}
	}
	return weights, sums
}

// learn shows the passes those examples whose turn is from..to-1.
func (s *stack) learn(from, to int) error {
	first := s.passes[0]
	x, q, seen := first.Problem.X, first.Problem.Q, first.next.seen
	for at := from; at < to; at++ {
		i := int(first.order[at])
		row := rowOf(x, i)
		if at+2 < len(first.order) {
			lanes.Prefetch(rowOf(x, int(first.order[at+2])))
		}
		s.w.Scores(s.scores, row)
		clear(s.tau)
		moved := false
		for k, p := range s.passes {
			one, err := p.see(i, s.scores[k*q:(k+1)*q], s.tau[k*q:(k+1)*q])
			if err != nil {
				return err
			}
			moved = moved || one
		}
		if moved {
			s.w.Add(s.tau, row)
			if s.late != nil && seen > 0 {
				s.late.Add(float64(seen), s.tau, row)
			}
		}
		seen++
	}
	for _, p := range s.passes {
		p.next.seen = seen
	}
	s.w.Flush() // while the examples are in a cache
	if s.late != nil {
		s.late.Flush()
	}
	return nil
}

// stacks puts passes together that see dense examples in one order, as many as fill vectors best.
func stacks(passes []*pass) (all []*stack) {
	for len(passes) > 0 {
		first := passes[0]
		var alike, others []*pass
		for _, p := range passes {
			if p == first || p.beside(first) {
				alike = append(alike, p)
			} else {
				others = append(others, p)
			}
		}
		n := fullest(len(alike), first.Problem.Q, first.Problem.X.D)
		all = append(all, newStack(alike[:n]))
		passes = append(alike[n:], others...)
	}
	return all
}

// beside says whether p may be in a stack with another pass.
func (p *pass) beside(other *pass) bool {
	x, y := p.Problem.X, other.Problem.X
	return !x.Sparse() && x.N == y.N && x.N > 0 && &x.X[0] == &y.X[0] &&
		p.Problem.Q == other.Problem.Q &&
		p.NoAverage == other.NoAverage && p.next.seen == other.next.seen && slices.Equal(p.order,
		other.order)
}

// fullest returns how many of some passes over q classes and d columns leave the least share of
// lanes idle, in a stack that leaves a second-level cache room for examples.
func fullest(passes, q, d int) (n int) {
	const lanes, bytes = 16, 1 << 20
	n, least := 1, 1.0
	for k := 1; k <= passes && (k == 1 || k*q*d*perWeight <= bytes); k++ {
		full := (k*q + lanes - 1) / lanes * lanes
		if idle := float64(full-k*q) / float64(full); idle <= least {
			n, least = k, idle
		}
	}
	return n
}

// learnAll makes passes: a few examples after another or, if weights are larger than examples are,
// one pass after another.
func learnAll(ctx context.Context, passes []*pass) error {
	n, x := len(passes[0].order), passes[0].Problem.X
	few, all := together(x), stacks(passes)
	side := len(all)
	if x.Sparse() && perWeight*x.D*passes[0].Problem.Q > cache {
		side = 1
	}
	for some := range slices.Chunk(all, side) {
		for from := 0; from < n; from += few {
			for _, s := range some {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if err := s.learn(from, min(n, from+few)); err != nil {
					return err
				}
			}
		}
	}
	for _, s := range all {
		s.part()
	}
	return nil
}

// cache is how many bytes of examples are shown to one run before the next one has its turn, and
// perWeight how many it has for a weight and its sum.
const cache, perWeight = 1 << 18, 12

// together is how many examples are shown to one run before the next one has its turn: as many as
// stay in a cache meanwhile, and at most those after which a pass has to ask whether it is still
// wanted.
func together(x dataset.Examples) int {
	size := 4 * x.D
	if x.Sparse() && x.N > 0 {
		size = 8 * len(x.Values) / x.N
	}
	return min(1024, 1+cache/max(1, size))
}
