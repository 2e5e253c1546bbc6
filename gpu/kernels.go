//go:build cgo && !noopencl

package gpu

import (
	"embed"
	"fmt"
	"slices"

	"github.com/jgillich/go-opencl/cl"
)

//go:embed kernels/*.cl
var kernelFiles embed.FS

// kernelNames are the kernel files. The first is put before all others.
var kernelNames = []string{"contract.cl", "score.cl", "region.cl", "bound.cl", "sums.cl", "sparse.cl", "update.cl", "kernelvalue.cl", "project.cl", "projectsparse.cl"}

// kernelSources reads the embedded kernels.
func kernelSources() ([]string, error) {
	sources := make([]string, len(kernelNames))
	for i, name := range kernelNames {
		text, err := kernelFiles.ReadFile("kernels/" + name)
		if err != nil {
			return nil, err
		}
		sources[i] = string(text)
	}
	return sources, nil
}

// program is some kernel files that are compiled together. There are several, so that
// a driver that remembers what it compiled has less to compile when a file changes.
type program struct {
	files   []string
	kernels func(*gpuEngine) []kernelUse
}

// kernelUse is a kernel, where the engine keeps it, and how many work-items are in a
// work-group on a CPU, where some take much.
type kernelUse struct {
	to    **kernel
	name  string
	onCPU int
}

var programs = []program{
	{[]string{"score.cl"}, func(e *gpuEngine) []kernelUse {
		return []kernelUse{{&e.scoreFew, "score_4", 8}, {&e.scoreMany, "score_16", 8}}
	}},
	{[]string{"region.cl", "bound.cl"}, func(e *gpuEngine) []kernelUse {
		return []kernelUse{{&e.predict, "predict", 64}, {&e.assign, "assign", 8}, {&e.bound, "bound", 8}, {&e.assignListed, "assign_listed", 64}}
	}},
	{[]string{"sums.cl"}, func(e *gpuEngine) []kernelUse {
		return []kernelUse{{&e.sumGroups, "sum_groups", 1}, {&e.addGroups, "add_groups", 1}}
	}},
	{[]string{"sparse.cl"}, func(e *gpuEngine) []kernelUse {
		// One work-group moves a cell; a CPU runs a work-group on one core anyway.
		return []kernelUse{{&e.scoreSparse, "score_sparse", 64}, {&e.moveSumsSparse, "move_sums_sparse", 8}}
	}},
	{[]string{"update.cl"}, func(e *gpuEngine) []kernelUse {
		return []kernelUse{{&e.updateVectors, "update_vectors", 64}, {&e.norms, "norms", 8}}
	}},
	{[]string{"kernelvalue.cl", "project.cl"}, func(e *gpuEngine) []kernelUse {
		return []kernelUse{{&e.product, "product", 1}, {&e.squares, "squares", 8}}
	}},
	{[]string{"kernelvalue.cl", "projectsparse.cl"}, func(e *gpuEngine) []kernelUse {
		return []kernelUse{{&e.productSparse, "product_sparse", 8}, {&e.squaresSparse, "squares_sparse", 8}}
	}},
}

// The classes that a work-item of kernels score_4 and score_16 computes at once.
const few, many = 4, 16

// text puts the files of a program together, sources being those of kernelNames.
// score.cl goes in once for each number of classes that a work-item computes at once.
func (p program) text(sources []string) []string {
	all := []string{sources[0]}
	for _, name := range p.files {
		text := sources[slices.Index(kernelNames, name)]
		if name != "score.cl" {
			all = append(all, text)
			continue
		}
		for _, classes := range []int{few, many} {
			all = append(all, fmt.Sprintf("#define CLASSES %d\n", classes), text, "#undef CLASSES\n")
		}
	}
	return all
}

// vectorWidth returns how many values the vectors of kernels/project.cl have on a device: 4 on
// a GPU, else what its vectors hold, or wanted of them.
func vectorWidth(d *cl.Device, cpu bool, wanted int) int {
	if !cpu {
		return 4
	}
	if wanted == 0 {
		wanted, _ = recovered(d.NativeVectorWidthFloat)
	}
	switch {
	case wanted >= 16:
		return 16
	case wanted >= 8:
		return 8
	}
	return 4
}
