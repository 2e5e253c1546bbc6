// Command uma-gpu trains multiclass classifiers from labels that are wrong in a
// known way, on OpenCL devices or on the processor, with the same bits from all
// of them. Each command is a package below internal; package program lists them.
package main

import (
	"os"

	"github.com/uma-gpu/uma-gpu/cmd/uma-gpu/internal/program"
)

func main() {
	os.Exit(program.Start(os.Args[1:], os.Stdout, os.Stderr))
}
