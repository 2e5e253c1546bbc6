package simd

import (
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/internal/sketch"
)

// AtOnce returns the engine at a level that must be there, with bounds from the first
// assignment on.
func AtOnce(l Level) engine.Engine {
	k, err := kernelsOf(l)
	if err != nil {
		panic(err)
	}
	return &processor{k: k, bounds: sketch.AtOnce}
}
