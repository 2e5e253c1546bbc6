//go:build (!amd64 && !arm64) || purego

package simd

// assembly: there is none.
func assembly() []*kernels { return nil }
