package catalog_test

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
)

// suiteCase is one judgement of a learner. It needs no *testing.T, so that a test can also ask that
// a broken learner fails.
type suiteCase struct {
	name  string
	check func(subject) error
	// once is for one engine: what is judged does not depend on the engine, since case engines says
	// that all make the same bits
	once  bool
	steps bool // likewise, if steps are the host's: what is judged is what they make
}

// subject is what a case judges: a learner with its default parameters on an engine.
type subject struct {
	*learners.Definition
	engine *engine.Engine
	first  *engine.Engine // which all others have to equal
	next   *engine.Engine // another one, where there is one

	thorough bool // on one engine: cases of the host's own choices have all of them
	features int  // of the tasks
}

// suite is what every learner passes: the same bits twice, on every engine, in both storages and
// from every snapshot; sense on problems turned round in ways that must not matter; an error where
// there is nothing to learn; and a definition from which flags, help and model files can be made.
var suite = []suiteCase{
	{name: "definition", check: checkDefinition, once: true},
	{name: "parameters are the fields", check: checkParameters, once: true},
	{name: "parameters and their JSON", check: checkJSON, once: true},
	{name: "no number that is none", check: checkNumbers, once: true},
	{name: "bad problems", check: checkBadProblems},

	{name: "twice", check: checkTwice, steps: true},
	{name: "engines", check: checkEngines},
	{name: "sparse and dense", check: checkSparse, steps: true},
	{name: "identity and no noise", check: checkIdentity, once: true},
	{name: "noise that is ignored", check: checkIgnored, once: true},
	{name: "two runs at once", check: checkTogether},
	{name: "inputs unmodified", check: checkInputs, steps: true},
	{name: "parameters changed later", check: checkParametersCopied, once: true},
	{name: "count twice", check: checkCountTwice, once: true},
	{name: "close", check: checkClose},

	{name: "resume", check: checkResume},
	{name: "cancelled", check: checkCancelled},
	{name: "cancelled anywhere", check: checkCancelledAnywhere},
	{name: "engine that fails", check: checkFailingEngine},
	{name: "damaged state", check: checkDamagedState, once: true},
	{name: "state of another problem", check: checkForeignState, once: true},
	{name: "warm start", check: checkFrom, steps: true},

	{name: "learns", check: checkLearns, once: true},
	{name: "permuted classes", check: checkPermutedClasses, once: true},
	{name: "permuted features", check: checkPermutedFeatures, once: true},
	{name: "constant features", check: checkConstantFeatures, once: true},
	{name: "absent class", check: checkAbsentClass, once: true},
	{name: "one class", check: checkOneClass, once: true},
	{name: "one example", check: checkOneExample, once: true},
	{name: "huge and tiny values", check: checkHuge, steps: true},
}

// judge judges the learner of d, with the parameters that d.New returns, on engines. A panic is an
// error too.
func (c suiteCase) judge(d *learners.Definition, engines []*engine.Engine) error {
	if len(engines) == 0 {
		return errors.New("found no engine to judge learners on, wanted at least one")
	}
	thorough := min(1, len(engines)-1) // the fast one for processors, if there is one
	for i, e := range engines {
		if (c.once || c.steps && d.Loads == learners.LoadsScorer) && i != thorough {
			continue
		}
		s := subject{d, e, engines[0], engines[(i+1)%len(engines)], i == thorough, features}
		if len(engines) == 1 && d.Loads == learners.LoadsScorer {
			s.features = fewFeatures
		}
		if err := c.judgeOn(s); err != nil {
			return fmt.Errorf("engine %d, %s: %w", i, e.Device().Name, err)
		}
	}
	return nil
}

func (c suiteCase) judgeOn(s subject) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return c.check(s)
}
