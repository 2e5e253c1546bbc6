//go:build !amd64 || purego

package online

func available() []*kernels { return []*kernels{&portable} }
