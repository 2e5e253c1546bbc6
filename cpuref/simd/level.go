package simd

import "fmt"

// Level names a set of instructions.
type Level string

// The levels, slowest first.
const (
	Go     Level = "Go" // plain loops
	AVX2   Level = "AVX2"
	AVX512 Level = "AVX-512"
)

// Levels lists the levels that this processor and this build can use, slowest
// first. Go is always there.
func Levels() []Level {
	var all []Level
	for _, k := range available() {
		all = append(all, k.level)
	}
	return all
}

// available lists the kernels of Levels.
func available() []*kernels { return append([]*kernels{&portable}, assembly()...) }

// kernelsOf returns the kernels of a level, or an error that lists what there is.
func kernelsOf(l Level) (*kernels, error) {
	for _, k := range available() {
		if k.level == l {
			return k, nil
		}
	}
	return nil, fmt.Errorf("simd: level %q is not there; this processor and this build have %v", l, Levels())
}
