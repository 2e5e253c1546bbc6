package catalog_test

import (
	"context"
	"errors"
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

// params are UMA's parameters, which correct one pair at random so that the learner has a state,
// and the mutant to run.
type params struct {
	*uma.Params
	m mutant
}

// mutant is a learner with a fault. Fields that are nil are as they should be.
type mutant struct {
	name    string
	by      string                                           // the case that has to catch it
	problem func(*learners.Problem) *learners.Problem        // that it learns instead
	wrap    func(*learner, *learners.Problem)                // breaks methods
	define  func(*learners.Definition)                       // breaks the definition
	declare func(*params) []learners.Parameter               // instead of UMA's
	check   func(*params) error                              // instead of UMA's
	start   func(*params, *learner, *learners.Problem) error // has the parameters too
}

func (m mutant) definition() *learners.Definition {
	d := *uma.Defaults().Definition()
	d.Name = "mutant"
	d.Weights = []learners.Rule{learners.Best, learners.Average, learners.Last, learners.BestAverage}
	d.New = func() learners.Params {
		u := uma.Defaults()
		u.Step, u.Select = uma.StepPair, uma.SelectRandom
		return &params{u, m}
	}
	if m.define != nil {
		m.define(&d)
	}
	return &d
}

func (p *params) Definition() *learners.Definition {
	d := p.m.definition()
	d.Parameters, d.Start = p.Params.Definition().Parameters, p.start
	if p.m.declare != nil {
		d.Parameters = p.m.declare(p)
	}
	if p.m.check != nil {
		d.Check = func() error { return p.m.check(p) }
	}
	return d
}

func (p *params) start(ctx context.Context, problem *learners.Problem) (learners.Learner, error) {
	own := problem
	if p.m.problem != nil && problem.Check() == nil {
		own = p.m.problem(problem)
	}
	l, err := p.Params.Definition().Start(ctx, own)
	if err != nil {
		return nil, err
	}
	broken := &learner{Learner: l, ctx: ctx, count: l.Count, step: l.Step}
	broken.save, broken.restore, broken.close = l.Save, l.Restore, l.Close
	if p.m.wrap != nil {
		p.m.wrap(broken, own)
	}
	if p.m.start != nil {
		if err := p.m.start(p, broken, own); err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	return broken, nil
}

// learner is UMA with other methods.
type learner struct {
	learners.Learner
	ctx     context.Context // of Start
	count   func(context.Context, engine.Weights, []int) ([]int64, error)
	step    func(context.Context, engine.Weights) (learners.Step, error)
	save    func() ([]byte, error)
	restore func([]byte) error
	close   func() error
}

func (l *learner) Count(ctx context.Context, w engine.Weights, changed []int) ([]int64, error) {
	return l.count(ctx, w, changed)
}
func (l *learner) Step(ctx context.Context, w engine.Weights) (learners.Step, error) {
	return l.step(ctx, w)
}
func (l *learner) Save() ([]byte, error)      { return l.save() }
func (l *learner) Restore(saved []byte) error { return l.restore(saved) }
func (l *learner) Close() error               { return l.close() }

// quick are two engines for which nothing has to be compiled.
func quick() []*engine.Engine { return []*engine.Engine{cpuref.New(), simd.New()} }

// The learner that the mutants are made of passes; else what they fail would mean nothing.
func TestMutantsBeforeMutation(t *testing.T) {
	judge(t, mutant{}.definition(), quick(), nil)
}

func TestMutantsAreCaught(t *testing.T) {
	cases := map[string]suiteCase{}
	for _, c := range suite {
		cases[c.name] = c
	}
	caught := map[string]bool{}
	for _, m := range mutants {
		c, ok := cases[m.by]
		if !ok {
			t.Fatalf("%s: no case %q", m.name, m.by)
		}
		caught[m.by] = true
		if err := c.judge(m.definition(), quick()); err == nil {
			t.Errorf("a learner that %q passes %q", m.name, m.by)
		} else {
			t.Logf("%s: %.300v", m.name, err)
		}
	}
	for name := range cases {
		if !caught[name] {
			t.Errorf("no mutant for the case %q", name)
		}
	}
}

func TestTables(t *testing.T) {
	good := uma.Defaults().Definition()
	other := *good
	other.Name = "other"
	other.New = func() learners.Params {
		return &params{uma.Defaults(), mutant{declare: func(*params) []learners.Parameter {
			return []learners.Parameter{learners.Bool("alpha", new(bool), "another kind")}
		}}}
	}
	for what, table := range map[string][]*learners.Definition{
		"empty": {}, "nil": nil, "twice the same": {good, good}, "one parameter of two kinds": {good,
			&other},
	} {
		if err := checkTable(table); err == nil {
			t.Errorf("a table that is %s passes", what)
		}
	}
	if err := checkTable([]*learners.Definition{good}); err != nil {
		t.Error(err)
	}
	if err := suite[0].judge(good, nil); err == nil {
		t.Error("learners pass on no engine")
	}
}
