package main

import (
	"slices"
	"testing"

	"github.com/uma-gpu/uma-gpu/gpu"
)

// devicesHere are the names of the processor and, if there is OpenCL in the program, of
// its first device.
func devicesHere(t *testing.T) []string {
	t.Helper()
	all := []string{"cpu"}
	if gpu.Built {
		infos, err := gpu.Devices()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, infos[0].ID())
	}
	return all
}

// with is a command line with more at its end.
func with(args []string, more ...string) []string { return slices.Concat(args, more) }
