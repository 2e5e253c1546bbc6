package catalog_test

import (
	"testing"

	"github.com/uma-gpu/uma-gpu/cpuref"
	"github.com/uma-gpu/uma-gpu/cpuref/simd"
	"github.com/uma-gpu/uma-gpu/host/engine"
)

// openers lists the engines that learners are judged on; a file built with OpenCL adds every
// OpenCL device.
var openers = []func(t *testing.T) []engine.Engine{
	func(*testing.T) []engine.Engine { return []engine.Engine{cpuref.New(), simd.New()} },
}

func engines(t *testing.T) (all []engine.Engine) {
	for _, open := range openers {
		all = append(all, open(t)...)
	}
	return all
}
