//go:build !amd64 || purego

package lanes

func assembly() []*kernels { return nil }
