package online

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/uma-gpu/uma-gpu/host/dataset"
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
			"the data; normalise the features", p.before+i+1)
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

// streamPass is a run in its only pass, whose examples come in blocks.
type streamPass struct{ *pass }

// newStream begins a run on a stream.
func newStream(problem *learners.Problem, from engine.Weights, p *Params) (learners.Stream, error) {
	if err := learners.Check(p); err != nil {
		return nil, err
	}
	switch {
	case !p.NoShuffle:
		return nil, errors.New("online: examples of a stream: got some to shuffle, want them in their " +
			"order")
	case p.classWeights() == learners.Balanced:
		return nil, errors.New("online: found weights of classes, for which the sizes of all classes " +
			"have to be known before the first example is; read all examples, or weigh classes alike")
	}
	l, err := newRun(&base.Scored{Problem: problem}, p)
	if err != nil {
		return nil, err
	}
	begun, err := l.begin(from)
	if err != nil {
		return nil, err
	}
	return streamPass{begun}, nil
}

func (p streamPass) Learn(x dataset.Examples, y []int32) (err error) {
	if x.D != p.Problem.X.D || len(y) != x.N {
		return fmt.Errorf("online: found %d labels of %d examples of %d columns, wanted one for each, "+
			"of %d columns", len(y), x.N, x.D, p.Problem.X.D)
	}
	for i, k := range y {
		if k < 0 || int(k) >= p.Problem.Q {
			return fmt.Errorf("online: %w: example %d has label %d, wanted 0..%d", engine.ErrLabel, i, k,
				p.Problem.Q-1)
		}
	}
	p.Problem = p.Problem.On(x, y)
	if p.norms2, err = norms2(x); err != nil {
		return err
	}
	for at := len(p.order); at < x.N; at++ {
		p.order = append(p.order, int32(at))
	}
	p.order = p.order[:x.N]
	p.before = int(p.next.seen)
	return p.learn(0, x.N)
}

func (p streamPass) Counts() []int64 { return p.counts }

func (p streamPass) Result(w engine.Weights) (learners.Step, error) { return p.end(w) }
