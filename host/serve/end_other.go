//go:build !linux

package serve

func letNoneBegin(any) {}
