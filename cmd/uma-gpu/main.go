// Command uma-gpu trains multiclass classifiers from labels that are wrong in a
// known way, on OpenCL devices or on the processor, with the same bits from all
// of them. Each command has a file of its own; run.go says how they are started
// and what their exit codes mean.
package main

import (
	"os"

	"github.com/uma-gpu/uma-gpu/gpu"
)

func main() {
	gpu.AskInChild()
	os.Exit(start(os.Args[1:], os.Stdout, os.Stderr))
}
