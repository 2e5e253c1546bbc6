package online

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/engine"
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

func (l *learner) begin(w engine.Weights) (*pass, error) {
	if err := l.Ready(context.Background()); err != nil {
		return nil, err
	}
	l.next.begin(&l.state, w, !l.NoAverage, l.Problem.X.Sparse())
	random := rand.New(&l.next.random)
	l.arrange(random)
	p := &pass{learner: l, counts: make([]int64, w.Q*w.Q)}
	p.example.random = random
	if l.risk != nil {
		l.risk.begin(l.inverse, w.Q)
	}
	return p, nil
}

// see shows the policy example i, of these scores, and writes the step, which is 0 before, to tau.
// It says whether there is one.
func (p *pass) see(i int, scores, tau []float32) (moved bool, err error) {
	if !base.Finite(scores) {
		return false, fmt.Errorf("online: found scores that are too large for float32 at example %d of "+
			"the data; normalise the features", i+1)
	}
	e := &p.example
	e.y, e.norm2 = int(p.Problem.Y[i]), p.norms2[i]
	e.weight = p.weights[e.y]
	p.counts[predicted(scores)*len(scores)+e.y]++
	if p.risk != nil {
		p.risk.see(e.y, scores)
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
	if p.risk != nil {
		fields = append(fields, p.risk.fields()...)
	}
	return learners.Step{Changed: learners.AllClasses(w.Q), Fields: fields}, nil
}

// Step implements learners.Learner: a pass over all examples. It is the last one if it finds
// nothing to add to W.
func (l *learner) Step(ctx context.Context, w engine.Weights) (s learners.Step, err error) {
	if l.norms2 == nil {
		if l.norms2, err = norms2(l.Problem.X); err != nil {
			return s, err
		}
	}
	p, err := l.begin(w)
	if err != nil {
		return learners.Step{}, err
	}
	if err := p.learnAll(ctx); err != nil {
		return learners.Step{}, err
	}
	return p.end(w)
}
