package localisation_test

import (
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/learnertest"
	"github.com/uma-gpu/uma-gpu/learners/localisation"
)

// What every learner must pass it passes with planes by chance; the catalog's test runs the
// defaults.
func TestRandomOracle(t *testing.T) {
	d := *localisation.Defaults().Definition()
	d.New = func() learners.Params {
		return &localisation.Params{Oracle: localisation.Random, Updates: 1000}
	}
	learnertest.Run(t, &d, []engine.Engine{simd.New()})
}
