//go:build !cgo || !unix

package main

// tellMapped has nobody to tell: without OpenCL all that reads a file is Go.
func tellMapped(raw []byte, path string) {}

// keepSignals has nothing to keep.
func keepSignals() func() { return func() {} }
