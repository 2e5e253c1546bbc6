package svm_test

import (
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/learners"
	"github.com/uma-gpu/uma-gpu/learners/learnertest"
	"github.com/uma-gpu/uma-gpu/learners/svm"
)

// What every learner must pass it passes with all classes at once; the catalog's test runs the
// defaults.
func TestAllAtOnce(t *testing.T) {
	d := *svm.Defaults().Definition()
	d.New = func() learners.Params {
		p := svm.Defaults()
		p.Loss, p.Multiclass, p.ClassWeights = svm.Hinge, svm.All, learners.Balanced
		return p
	}
	learnertest.Run(t, &d, []engine.Engine{simd.New()})
}
