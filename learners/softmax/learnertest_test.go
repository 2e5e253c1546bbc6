package softmax_test

import (
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/learnertest"
	"github.com/uma-gpu/uma-gpu/learners/softmax"
)

// What every learner must pass it passes when it learns C as well; the catalog's test runs it
// with its defaults.
func TestWhileLearningConfusion(t *testing.T) {
	d := *softmax.Defaults().Definition()
	d.New = func() learners.Params {
		p := softmax.Defaults()
		p.LearnConfusion, p.Folds = true, 2
		return p
	}
	for _, c := range learnertest.Cases() {
		switch c.Name {
		case "identity and no noise": // which are not the same where a C that is given is a beginning
			continue
		case "learns": // in fewer steps than the rounds take; TestLearnedConfusion judges that
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			if err := c.Check(&d, []engine.Engine{cpuref.New(), simd.New()}); err != nil {
				t.Error(err)
			}
		})
	}
}
