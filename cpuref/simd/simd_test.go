package simd_test

import (
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/engine/enginetest"
)

// atLevel opens the engine at a level that must be there.
func atLevel(t testing.TB, l simd.Level) *engine.Engine {
	t.Helper()
	e, err := simd.NewLevel(l)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestConformance(t *testing.T) {
	for _, l := range simd.Levels() {
		t.Run(string(l), func(t *testing.T) {
			t.Parallel()
			enginetest.Run(t, atLevel(t, l), enginetest.AllCases())
		})
	}
}

func TestClose(t *testing.T) {
	for _, l := range simd.Levels() {
		enginetest.RunClose(t, func() *engine.Engine { return atLevel(t, l) })
	}
}
