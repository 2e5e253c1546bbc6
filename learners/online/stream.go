package online

import (
	"errors"
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/internal/base"
)

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
	return alone(p.pass).learn(0, x.N)
}

func (p streamPass) Counts() []int64 { return p.counts }

func (p streamPass) Result(w engine.Weights) (learners.Step, error) { return p.end(w) }
