package online

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/parallel"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/internal/base"
)

// pass is a run in the middle of one.
type pass struct {
	*learner
	example example
	counts  []int64 // Q×Q: of examples by prediction and label, before each was learned from
	updates int
}

// begin begins a pass from the weights w.
func (l *learner) begin(w engine.Weights) (*pass, error) {
	if err := l.Ready(context.Background()); err != nil {
		return nil, err
	}
	l.next.begin(&l.state, w, !l.NoAverage, l.Problem.X.Sparse())
	random := rand.New(&l.next.random)
	l.arrange(random)
	p := &pass{learner: l, counts: make([]int64, w.Q*w.Q)}
	p.example.random = random
	if l.tells != nil {
		l.tells.begin(l.inverse, w.Q)
	}
	return p, nil
}

// see shows the policy example i, of these scores, and writes the step, which is 0 before, to tau.
// It says whether there is one.
func (p *pass) see(i int, scores, tau []float32) (moved bool, err error) {
	if !base.Finite(scores) {
		return false, fmt.Errorf("online: found scores that are too large for float32 at example %d of "+
			"the data; normalise the features", p.before+i+1)
	}
	e := &p.example
	e.y, e.norm2 = int(p.Problem.Y[i]), p.norms2[i]
	e.weight = p.weights[e.y]
	p.counts[predicted(scores)*len(scores)+e.y]++
	if p.tells != nil {
		p.tells.see(e.y, scores)
	}
	if !p.policy.steps(tau, scores, e) || !base.Finite(tau) {
		clear(tau)
		return false, nil
	}
	p.updates++
	return true, nil
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
	fields := []learners.Field{{Name: "mistakes", Value: mistakes}, {Name: "updates",
		Value: p.updates}}
	if p.tells != nil {
		fields = append(fields, p.tells.fields()...)
	}
	return learners.Step{Changed: learners.AllClasses(w.Q), Fields: fields}, nil
}

// Step implements learners.Learner: a pass over all examples. It is the last one if it finds
// nothing to add to W.
func (l *learner) Step(ctx context.Context, w engine.Weights) (learners.Step, error) {
	steps, err := stepAll(ctx, []learners.Learner{l}, []engine.Weights{w})
	if err != nil {
		return learners.Step{}, err
	}
	return steps[0], nil
}

// stepAll is the learners.Definition.StepAll of the family: passes side by side. Each processor
// has some of the runs, and shows a few examples to one after another of them, so that these are
// read from memory once.
func stepAll(ctx context.Context, all []learners.Learner, w []engine.Weights,
) ([]learners.Step, error) {
	passes, steps := make([]*pass, len(all)), make([]learners.Step, len(all))
	errs := make([]error, len(all))
	for k, l := range all {
		one, ok := l.(*learner)
		if !ok {
			return nil, fmt.Errorf("online: found a run of another family of learners among those to step "+
				"together (%T)", l)
		}
		if n, want := len(one.order), len(all[0].(*learner).order); n != want {
			return nil, fmt.Errorf("online: found runs on %d and on %d examples to step together, wanted "+
				"those of one problem", want, n)
		}
		if err := one.measure(all[0].(*learner)); err != nil {
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
