//go:build !amd64 || purego

package lanes

// assembly: there is none.
func assembly() []*kernels { return nil }
