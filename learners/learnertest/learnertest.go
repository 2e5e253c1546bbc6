// Package learnertest is the suite that every learner passes: the same bits twice, on every
// engine, in both storages and from every snapshot; sense on problems turned round in ways
// that must not matter; an error where there is nothing to learn; and a definition from which
// flags, help and model files can be made.
package learnertest

import (
	"errors"
	"fmt"
	"runtime/debug"
	"testing"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
)

// Case is one judgement of a learner. It does not need a *testing.T, so that a test can also
// ask that a broken learner fails.
type Case struct {
	Name  string
	check func(subject) error
	once  bool // on the first engine alone: what is judged does not depend on the engine
	steps bool // likewise, if steps are the host's: what is judged is what they make
}

// subject is what a case judges: a learner with its default parameters on an engine.
type subject struct {
	*learners.Definition
	engine engine.Engine
	first  engine.Engine // which all others have to equal
	next   engine.Engine // another one, where there is one
}

// Cases lists the suite.
func Cases() []Case {
	return []Case{
		{Name: "definition", check: checkDefinition, once: true},
		{Name: "parameters are the fields", check: checkParameters, once: true},
		{Name: "parameters and their JSON", check: checkJSON, once: true},
		{Name: "no number that is none", check: checkNumbers, once: true},
		{Name: "bad problems", check: checkBadProblems},

		{Name: "twice", check: checkTwice, steps: true},
		{Name: "engines", check: checkEngines},
		{Name: "sparse and dense", check: checkSparse, steps: true},
		{Name: "identity and no noise", check: checkIdentity, steps: true},
		{Name: "noise that is ignored", check: checkIgnored, steps: true},
		{Name: "two runs at once", check: checkTogether},
		{Name: "inputs unmodified", check: checkInputs, steps: true},
		{Name: "parameters changed later", check: checkParametersCopied, steps: true},
		{Name: "count twice", check: checkCountTwice, steps: true},
		{Name: "close", check: checkClose},

		{Name: "resume", check: checkResume},
		{Name: "cancelled", check: checkCancelled},
		{Name: "cancelled anywhere", check: checkCancelledAnywhere},
		{Name: "engine that fails", check: checkFailingEngine},
		{Name: "damaged state", check: checkDamagedState, once: true},
		{Name: "state of another problem", check: checkForeignState, once: true},
		{Name: "warm start", check: checkFrom, steps: true},

		{Name: "learns", check: checkLearns, steps: true},
		{Name: "permuted classes", check: checkPermutedClasses, steps: true},
		{Name: "permuted features", check: checkPermutedFeatures, steps: true},
		{Name: "constant features", check: checkConstantFeatures, steps: true},
		{Name: "absent class", check: checkAbsentClass, steps: true},
		{Name: "one class", check: checkOneClass, steps: true},
		{Name: "one example", check: checkOneExample, steps: true},
		{Name: "huge and tiny values", check: checkHuge, steps: true},
	}
}

// Check judges the learner of d, with the parameters that d.New returns, on engines; a copy of a
// definition whose New returns others has those judged. A panic is an error too.
func (c Case) Check(d *learners.Definition, engines []engine.Engine) error {
	if len(engines) == 0 {
		return errors.New("found no engine to judge learners on, wanted at least one")
	}
	for i, e := range engines {
		s := subject{d, e, engines[0], engines[(i+1)%len(engines)]}
		if err := c.judge(s); err != nil {
			return fmt.Errorf("engine %d, %s: %w", i, e.Device().Name, err)
		}
		if c.once || c.steps && d.Loads == learners.LoadsScorer {
			break
		}
	}
	return nil
}

func (c Case) judge(s subject) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return c.check(s)
}

// Run judges one learner by all Cases, as subtests of t.
func Run(t *testing.T, d *learners.Definition, engines []engine.Engine) {
	t.Helper()
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) {
			if err := c.Check(d, engines); err != nil {
				t.Errorf("learner %s: %v", d.Name, err)
			}
		})
	}
}

// RunAll judges all learners of a table, and the table, as subtests of t.
func RunAll(t *testing.T, all []*learners.Definition, engines []engine.Engine) {
	t.Helper()
	if err := CheckTable(all); err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		t.Run(d.Name, func(t *testing.T) { Run(t, d, engines) })
	}
}
