package uma_test

import (
	"testing"

	"github.com/uma-gpu/uma-gpu/internal/everyengine"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/learnertest"
	"github.com/uma-gpu/uma-gpu/learners/uma"
)

// TestPolicies has the suite of all learners judge the parameters that are no defaults: the
// other policies, a state that has random numbers, a margin in either unit.
func TestPolicies(t *testing.T) {
	engines := everyengine.Open(t)
	for name, change := range map[string]func(*uma.Params){
		"pair": func(p *uma.Params) { p.Step = uma.StepPair },
		"region, random": func(p *uma.Params) {
			p.Step, p.Select = uma.StepRegion,
				uma.SelectRandom
		},
		"all, margin": func(p *uma.Params) { p.Alpha = 1e-4 },
		"pair, margin in score": func(p *uma.Params) {
			p.Step, p.Alpha, p.AlphaUnit = uma.StepPair, 1e-6,
				uma.UnitScore
		},
	} {
		d := *uma.Defaults().Definition()
		d.New = func() learners.Params {
			p := uma.Defaults()
			change(p)
			return p
		}
		t.Run(name, func(t *testing.T) { learnertest.Run(t, &d, engines) })
	}
}
