//go:build !amd64 || purego

package versionspace

// assembly: there is none.
func assembly() []*kernels { return nil }
