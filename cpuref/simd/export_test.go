package simd

import (
	"errors"

	"github.com/uma-gpu/uma-gpu/host/engine"
)

// AtOnce returns the engine at a level that must be there, with bounds from the first
// assignment on.
func AtOnce(l Level) engine.Engine {
	k, err := kernelsOf(l)
	if err != nil {
		panic(err)
	}
	return &processor{k: k, bounds: atOnce}
}

// Fail leaves cells as an assignment does whose bounds cannot be made.
func Fail(c engine.Cells) { c.(labelled).failed = errors.New("no bounds") }
