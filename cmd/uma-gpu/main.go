// Command uma-gpu trains multiclass classifiers from labels that are wrong in a
// known way, on OpenCL devices or on the processor, with the same bits from all
// of them. Most commands are packages below internal; run.go lists all of them
// and says how they start. Package app has their exit codes.
package main

import (
	"os"

	"github.com/uma-gpu/uma-gpu/gpu"
	_ "github.com/uma-gpu/uma-gpu/host/dataset/zstd" // for all commands that read data
)

func main() {
	gpu.AskInChild()
	os.Exit(start(os.Args[1:], os.Stdout, os.Stderr))
}
