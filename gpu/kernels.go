//go:build cgo && !noopencl

package gpu

import (
	"fmt"
	"slices"

	"github.com/jgillich/go-opencl/cl"

	"github.com/uma-gpu/uma-gpu/gpu/kernels"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/numerics"
	"github.com/uma-gpu/uma-gpu/internal/enginecheck"
)

// program is some kernel files that are compiled together. There are several, so that
// a driver that remembers what it compiled has less to compile when a file changes.
type program struct {
	files   []string
	narrow  int                     // macro NARROW
	macros  func(*gpuEngine) string // options of the compiler
	kernels func(*gpuEngine) []kernelUse
}

// kernelUse is a kernel, where the engine keeps it, and how many work-items are in a
// work-group.
type kernelUse struct {
	to    **compiled
	name  string
	local int
}

// How kernels divide their work: what was fastest on the devices that were measured.
const (
	scoreRows       = 8   // examples that a work-item scores at a time on a CPU; one on a GPU
	scoreWidth      = 32  // columns that a work-group that scores reads at once on a GPU
	sumRows         = 64  // examples of a group, at most, that move from one cell to another
	weightedColumns = 256 // columns of weighted sums that a work-item takes on a CPU; one on a GPU
)

// sumColumns returns how many columns of a class sum a work-item moves.
func (e *gpuEngine) sumColumns() int {
	if e.cpu {
		return 128
	}
	return 1
}

// workGroup returns how many work-items a work-group has, a power of two, on a device that
// allows most.
func workGroup(cpu bool, most int) int {
	size := 64
	if cpu {
		size = 8
	}
	for size > max(most, 1) {
		size /= 2
	}
	return size
}

// fixedGroups are the kernels whose text fixes the size of a work-group, in the form for GPUs.
var fixedGroups = []string{"score_4", "score_16", "product", "residuals", "weighted"}

// programs serve every data set, and so are compiled when an engine is opened. A
// driver may take 50 ms for a program that it remembers: all others wait until they are wanted.
var programs = []program{
	{[]string{"region.cl", "update.cl", "bound.cl"}, 0, noMacros, func(e *gpuEngine) []kernelUse {
		return []kernelUse{{&e.predict, "predict", 64}, {&e.assign, "assign", e.group},
			{&e.bound, "bound", e.group}, {&e.assignListed, "assign_listed", 64},
			{&e.updateVectors, "update_vectors", 64}, {&e.norms, "norms", e.group}}
	}},
	{[]string{"add.cl"}, 0, sumMacros, func(e *gpuEngine) []kernelUse {
		return []kernelUse{{&e.addGroups, "add_groups", e.wideGroup()}, {&e.clearSums, "clear_sums", 64}}
	}},
}

// sparsePrograms serve sparse examples.
var sparsePrograms = []program{
	{[]string{"sparse.cl"}, 0, noMacros, func(e *gpuEngine) []kernelUse {
		// One work-group moves a cell; a CPU runs a work-group on one core anyway.
		return []kernelUse{{&e.scoreSparse, "score_sparse", 64}, {&e.moveSumsSparse, "move_sums_sparse",
			e.group}}
	}},
}

// projectPrograms serve projections.
var projectPrograms = []program{
	{[]string{"vector.cl", "kernelvalue.cl", "projectsparse.cl", "project.cl"}, 0, projectMacros,
		projectKernels},
}

func projectKernels(e *gpuEngine) []kernelUse {
	return []kernelUse{{&e.product, "product", e.wideGroup()}, {&e.squares, "squares", e.group},
		{&e.productSparse, "product_sparse", e.group}, {&e.squaresSparse, "squares_sparse", e.group}}
}

// evaluatorPrograms serve all evaluators.
var evaluatorPrograms = []program{
	{[]string{"vector.cl", "residual.cl"}, 0, residualMacros, func(e *gpuEngine) []kernelUse {
		return []kernelUse{{&e.residuals, "residuals", e.group}}
	}},
}

// sparseEvaluatorPrograms serve evaluators of sparse examples.
var sparseEvaluatorPrograms = []program{
	{[]string{"vector.cl", "weightedsparse.cl", "scoresparse.cl"}, 0, weightedMacros,
		func(e *gpuEngine) []kernelUse {
			return []kernelUse{{&e.weightedSparse, "weighted_sparse", e.group},
				{&e.scoreSparseWide, "score_sparse_wide", 64}}
		}},
}

// weightedPrograms serve evaluators of dense examples of a width: on a CPU one kernel does all
// at once.
func (e *gpuEngine) weightedPrograms(width int) []program {
	if e.cpu {
		files := []string{"score.cl", "vector.cl", "residual.cl", "weighted.cl", "evaluate.cl"}
		return []program{{files, width, evaluateMacros, func(e *gpuEngine) []kernelUse {
			return []kernelUse{{&e.dense[width].weighted, "weighted", 1}, {&e.dense[width].evaluate,
				"evaluate", 1}}
		}}}
	}
	return []program{{[]string{"vector.cl", "weighted.cl"}, width, weightedMacros,
		func(e *gpuEngine) []kernelUse {
			return []kernelUse{{&e.dense[width].weighted, "weighted", e.group}}
		}}}
}

// denseKernels are the kernels that read dense examples of one width; the last are there once
// an evaluator wanted them, and evaluate on a CPU alone.
type denseKernels struct{ scoreFew, scoreMany, sumGroups, weighted, evaluate *compiled }

// widths are the bytes of a value of narrow examples, 0 for those in float32.
var widths = []int{0, 1, 2}

// densePrograms serve dense examples of a width.
func densePrograms(width int) []program {
	return []program{
		{[]string{"score.cl"}, width, scoreMacros, func(e *gpuEngine) []kernelUse {
			k := &e.dense[width]
			return []kernelUse{{&k.scoreFew, "score_4", e.group}, {&k.scoreMany, "score_16", e.group}}
		}},
		{[]string{"sums.cl"}, width, sumMacros, func(e *gpuEngine) []kernelUse {
			return []kernelUse{{&e.dense[width].sumGroups, "sum_groups", e.wideGroup()}}
		}},
	}
}

// allPrograms returns all programs that an engine may have compiled.
func (e *gpuEngine) allPrograms() []program {
	all := slices.Concat(programs, sparsePrograms, projectPrograms, evaluatorPrograms,
		sparseEvaluatorPrograms)
	for _, w := range widths {
		all = slices.Concat(all, densePrograms(w), e.weightedPrograms(w))
	}
	return all
}

// loadPrograms returns the programs that examples need; some may be compiled already.
func (e *gpuEngine) loadPrograms(x dataset.Stored, u enginecheck.Use) []program {
	width := narrowWidth(x)
	switch {
	case x.Sparse() && u == enginecheck.Evaluating:
		return slices.Concat(sparsePrograms, evaluatorPrograms, sparseEvaluatorPrograms)
	case x.Sparse():
		return sparsePrograms
	case u == enginecheck.Evaluating:
		return slices.Concat(densePrograms(width), evaluatorPrograms, e.weightedPrograms(width))
	}
	return densePrograms(width)
}

// wideGroup is the size of work-groups of kernels whose work-item takes much on a CPU.
func (e *gpuEngine) wideGroup() int {
	if e.cpu {
		return 1
	}
	return e.group
}

func noMacros(*gpuEngine) string { return "" }

func scoreMacros(e *gpuEngine) string {
	return fmt.Sprintf(" -DGROUP=%d -DROWS=%d -DWIDTH=%d", e.group, scoreRows, min(scoreWidth,
		e.group))
}

func projectMacros(e *gpuEngine) string {
	return fmt.Sprintf(" -DWIDTH=%d -DGROUP=%d", e.vector, e.group)
}

func residualMacros(e *gpuEngine) string {
	width := 1
	if e.cpu {
		width = e.vector
	}
	return fmt.Sprintf(" -DWIDTH=%d -DGROUP=%d", width, e.group)
}

func weightedMacros(e *gpuEngine) string {
	return fmt.Sprintf(" -DWIDTH=%d -DGROUP=%d -DCOLUMNS=%d -DBLOCK=%d", e.vector, e.group,
		weightedColumns, numerics.Block)
}

func evaluateMacros(e *gpuEngine) string {
	return weightedMacros(e) + fmt.Sprintf(" -DROWS=%d -DFEW=%d -DMANY=%d", scoreRows, few, many)
}

func sumMacros(e *gpuEngine) string { return fmt.Sprintf(" -DCOLUMNS=%d", e.sumColumns()) }

// The classes that a work-item of kernels score_4 and score_16 computes at once.
const few, many = 4, 16

// text puts the files of a program together, sources being those of kernels.Names.
// score.cl goes in once for each number of classes that a work-item computes at once.
func (p program) text(sources []string) []string {
	all := []string{sources[0]}
	for _, name := range p.files {
		text := sources[slices.Index(kernels.Names, name)]
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
