package simd

import (
	"fmt"

	"github.com/uma-gpu/uma-gpu/host/engine"
)

// Level names a set of instructions.
type Level string

// Go is the level that is always there.
const Go Level = "Go"

// Levels lists the levels that this processor and this build can use, slowest first.
func Levels() []Level {
	var all []Level
	for _, k := range available() {
		all = append(all, Level(k.level))
	}
	return all
}

// NewLevel returns the engine at a level.
func NewLevel(l Level) (*engine.Engine, error) {
	for _, k := range available() {
		if k.level == string(l) {
			return engine.New(&processor{k: k}), nil
		}
	}
	return nil, fmt.Errorf("level %q is not there; this processor and this build have %v", l, Levels())
}
