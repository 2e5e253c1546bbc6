package online

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/online/lanes"
)

// pass is a run in the middle of one.
type pass struct {
	*run
	example     example
	tau, scores []float32
	counts      []int64 // Q×Q: of examples by prediction and label, before each was learned from
	updates     int
}

// begin begins a pass from the weights w.
func (l *run) begin(w engine.Weights) (*pass, error) {
	if l.closed {
		return nil, fmt.Errorf("online: %w", engine.ErrClosed)
	}
	l.next.begin(&l.state, w, !l.NoAverage, l.problem.X.Sparse())
	random := rand.New(&l.next.random)
	l.arrange(random)
	p := &pass{run: l, example: example{random: random}, tau: make([]float32, w.Q), scores: make([]float32, w.Q),
		counts: make([]int64, w.Q*w.Q)}
	if l.tells != nil {
		l.tells.begin(l.inverse, w.Q)
	}
	return p, nil
}

// learn shows the policy those of the pass's examples whose turn is from..to-1.
func (p *pass) learn(from, to int) error {
	s, e := &p.next, &p.example
	for at := from; at < to; at++ {
		i := p.order[at]
		x := rowOf(p.problem.X, int(i))
		if at+2 < len(p.order) {
			lanes.Prefetch(rowOf(p.problem.X, int(p.order[at+2])))
		}
		e.y, e.norm2 = int(p.problem.Y[i]), p.norms2[i]
		e.weight = p.weights[e.y]
		s.w.Scores(p.scores, x)
		if !finite(p.scores) {
			return fmt.Errorf("online: found scores that are too large for float32 at example %d of the data; normalise "+
				"the features", p.before+int(i)+1)
		}
		p.counts[predicted(p.scores)*len(p.scores)+e.y]++
		if p.tells != nil {
			p.tells.see(e.y, p.scores)
		}
		clear(p.tau)
		if p.policy.steps(p.tau, p.scores, e) && finite(p.tau) {
			p.updates++
			s.add(p.tau, x)
		}
		s.seen++
	}
	return nil
}

// flush adds what waits, while its examples are in a cache.
func (p *pass) flush() {
	p.next.w.Flush()
	if p.next.late != nil {
		p.next.late.Flush()
	}
}

// end writes the weights that the pass has left to w, unless it found nothing to add.
func (p *pass) end(w engine.Weights) (learners.Step, error) {
	if p.updates == 0 {
		return learners.Step{Done: true}, nil
	}
	if err := p.next.result(w); err != nil {
		return learners.Step{}, err
	}
	p.state, p.next = p.next, p.state
	mistakes := 0
	for k, count := range p.counts {
		if k/w.Q != k%w.Q {
			mistakes += int(count)
		}
	}
	fields := []learners.Field{{Name: "mistakes", Value: mistakes}, {Name: "updates", Value: p.updates}}
	if p.tells != nil {
		fields = append(fields, p.tells.fields()...)
	}
	return learners.Step{Changed: learners.AllClasses(w.Q), Fields: fields}, nil
}

// Step implements learners.Learner: a pass over all examples. It is the last one if it finds
// nothing to add to W.
func (l *run) Step(ctx context.Context, w engine.Weights) (learners.Step, error) {
	steps, err := stepAll(ctx, []learners.Learner{l}, []engine.Weights{w})
	if err != nil {
		return learners.Step{}, err
	}
	return steps[0], nil
}

// stepAll is the learners.Definition.StepAll of the family: passes side by side. Each processor has
// some of the runs, and shows a few examples to one after another of them, so that these are read
// from memory once.
func stepAll(ctx context.Context, all []learners.Learner, w []engine.Weights) ([]learners.Step, error) {
	passes, steps, errs := make([]*pass, len(all)), make([]learners.Step, len(all)), make([]error, len(all))
	for k, l := range all {
		one, ok := l.(*run)
		if !ok {
			return nil, fmt.Errorf("online: found a run of another family of learners among those to step together (%T)", l)
		}
		if n, want := len(one.order), len(all[0].(*run).order); n != want {
			return nil, fmt.Errorf("online: found runs on %d and on %d examples to step together, wanted those of one problem",
				want, n)
		}
		if err := one.measure(all[0].(*run)); err != nil {
			return nil, err
		}
		var err error
		if passes[k], err = one.begin(w[k]); err != nil {
			return nil, err
		}
	}
	parallel.Ranges(len(all), 1, func(from, to int) {
		errs[from] = learnAll(ctx, passes[from:to])
	})
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	for k, p := range passes {
		var err error
		if steps[k], err = p.end(w[k]); err != nil {
			return nil, err
		}
	}
	return steps, nil
}

// learnAll makes passes: a few examples after another or, if weights are larger than examples are, one pass after
// another.
func learnAll(ctx context.Context, passes []*pass) error {
	n, x := len(passes[0].order), passes[0].problem.X
	few := together(x)
	learn := func(passes []*pass, from int) error {
		for _, p := range passes {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := p.learn(from, min(n, from+few)); err != nil {
				return err
			}
			if !x.Sparse() {
				p.flush()
			}
		}
		return nil
	}
	groups := [][]*pass{passes}
	if x.Sparse() && perWeight*x.D*passes[0].problem.Q > cache {
		groups = slices.Collect(slices.Chunk(passes, 1))
	}
	for _, some := range groups {
		for from := 0; from < n; from += few {
			if err := learn(some, from); err != nil {
				return err
			}
		}
		for _, p := range some {
			p.flush()
		}
	}
	return nil
}

// cache is how many bytes of examples are shown to one run before the next one has its turn, and perWeight how many
// it has for a weight and its sum.
const cache, perWeight = 1 << 18, 12

// together is how many examples are shown to one run before the next one has its turn: so many as
// stay in a cache meanwhile, and at most those after which a pass has to ask whether it is still wanted.
func together(x dataset.Examples) int {
	size := 4 * x.D
	if x.Sparse() && x.N > 0 {
		size = 8 * len(x.Values) / x.N
	}
	return min(1024, 1+cache/max(1, size))
}
