package cpuref_test

import (
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/host/engine/enginetest"
)

func TestConformance(t *testing.T) {
	enginetest.Run(t, cpuref.New(), enginetest.AllCases())
}

func TestClose(t *testing.T) { enginetest.RunClose(t, cpuref.New) }

func BenchmarkEvaluate(b *testing.B) { enginetest.BenchmarkEvaluate(b, cpuref.New()) }
