package bpm_test

import (
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners/bpm"
	"github.com/uma-gpu/uma-gpu/learners/learnertest"
)

func TestX(t *testing.T) {
	learnertest.Run(t, bpm.Defaults().Definition(), []engine.Engine{simd.New()})
}
