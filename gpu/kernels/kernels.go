// Package kernels is the text of the OpenCL kernels, which package gpu compiles. It is in
// every build, also in one that cannot run them, so that each can say which they are.
package kernels

import (
	"embed"
)

//go:embed *.cl
var files embed.FS

// Names are the files. The first is put before all others.
var Names = []string{
	"contract.cl", "score.cl", "region.cl", "sums.cl", "add.cl", "sparse.cl", "update.cl",
	"vector.cl", "tile.cl", "kernelvalue.cl", "project.cl", "projectsparse.cl",
	"residual.cl", "weighted.cl", "weightedsparse.cl", "trees.cl", "probe.cl",
}

// Sources returns the text of each file.
func Sources() ([]string, error) {
	sources := make([]string, len(Names))
	for i, name := range Names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		sources[i] = string(text)
	}
	return sources, nil
}
