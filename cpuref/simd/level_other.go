//go:build !amd64 || purego

package simd

// assembly: there is none.
func assembly() []*kernels { return nil }
