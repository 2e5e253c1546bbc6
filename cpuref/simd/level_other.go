//go:build (!amd64 && !arm64) || purego

package simd

// assembly returns nil: there are no assembly kernels for this build.
func assembly() []*kernels { return nil }
