package cpuref_test

import (
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/enginetest"
)

func TestConformance(t *testing.T) {
	cases := enginetest.AllCases()
	for k, c := range cases {
		cases[k].Check = func(e *engine.Engine) error { return c.Against(e, engine.New(naiveDriver{})) }
	}
	enginetest.Run(t, cpuref.New(), cases)
}

func TestClose(t *testing.T) { enginetest.RunClose(t, cpuref.New) }
