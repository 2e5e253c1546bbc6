//go:build linux && cgo && !noopencl

package gpu

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/jgillich/go-opencl/cl"

	"github.com/uma-gpu/uma-gpu/gpu/kernels"
	"github.com/uma-gpu/uma-gpu/host/dataset"
	"github.com/uma-gpu/uma-gpu/host/engine"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

// program is some kernel files that are compiled together.
type program struct {
	files   string // with spaces between, without .cl
	macros  string // options of the compiler
	kernels []kernelUse
}

// kernelUse is a kernel, where the engine keeps it, and how many work-items are in a
// work-group.
type kernelUse struct {
	to    **compiled
	name  string
	local int
}

// denseKernels are the kernels that read dense examples: score by how many classes it
// computes at once, as in atOnce, and weighted too on a GPU, from its second on.
type denseKernels struct {
	score, weighted [3]*compiled
	moveSums        *compiled
}

// atOnce is how many classes a kernel computes at once: a CPU 4 or 16, a GPU also 64.
var atOnce = [3]int{4, 16, 64}

const width4, width16, width64 = 0, 1, 2 // places in atOnce

// How kernels divide their work: what was fastest on the devices that were measured.
const (
	scoreRows       = 8   // examples that a work-item scores at a time on a CPU
	weightedColumns = 256 // columns of weighted sums that a work-item takes on a CPU
)

// sumColumns returns how many columns of a class sum a work-item moves.
func (e *deviceEngine) sumColumns() int {
	if e.cpu {
		return 128
	}
	return 1
}

// workGroup returns how many work-items a work-group has, a power of two, on a device that
// allows most: those wanted, if any are.
func workGroup(cpu bool, wanted, most int) int {
	size := cmp.Or(wanted, 64)
	if cpu {
		size = cmp.Or(wanted, 8)
	}
	for size > max(most, 1) {
		size /= 2
	}
	return size
}

// fixedGroups are the kernels whose text fixes the size of a work-group, in the form for GPUs.
var fixedGroups = []string{"add_ranges", "score_4", "score_16", "score_64", "product", "residuals",
	"weighted_16", "weighted_64", "histogram", "split_count", "split_move"}

// library returns the programs, whose kernels e keeps: for all examples, for dense ones, for
// evaluators, and for trees. A driver may take 50 ms for a program that it remembers, so there are
// few, and what only some examples need, beyond the self-test, is compiled when they are loaded.
func (e *deviceEngine) library() (all, dense, evaluator, trees program) {
	group, wide, big, vector := e.group, e.wideGroup, e.bigGroup, e.vector
	sums := fmt.Sprintf(" -DSUM_COLUMNS=%d", e.sumColumns())
	groups := fmt.Sprintf(" -DGROUP=%d -DBIG=%d -DBLOCK=%d", group, big, numerics.Block) +
		e.shape.macros()
	all = program{
		"region update add vector sparse weightedsparse kernelvalue projectsparse project",
		sums + groups + fmt.Sprintf(" -DWIDTH=%d", vector), []kernelUse{
			{&e.predict, "predict", 64},
			{&e.assign, "assign", group},
			{&e.updateVectors, "update_vectors", 64}, {&e.norms, "norms", group},
			{&e.addRanges, "add_ranges", wide}, {&e.clearSums, "clear_sums", 64},
			{&e.scoreSparse, "score_sparse", 64},
			// One work-group moves a cell; a CPU runs a work-group on one core anyway.
			{&e.moveSumsSparse, "move_sums_sparse", group},
			{&e.weightedSparse, "weighted_sparse", group},
			{&e.product, "product", big}, {&e.squares, "squares", group},
			{&e.productSparse, "product_sparse", group}, {&e.squaresSparse, "squares_sparse", group}}}
	k := &e.dense
	dense = program{"score/4 score/16 sums", sums + fmt.Sprintf(" -DROWS=%d", scoreRows),
		[]kernelUse{{&k.score[width4], "score_4", group}, {&k.score[width16], "score_16", group},
			{&k.moveSums, "move_sums", wide}}}
	residuals := kernelUse{&e.residuals, "residuals", group}
	evaluator = program{"vector residual weighted",
		groups + fmt.Sprintf(" -DWIDTH=%d -DCOLUMNS=%d", vector, weightedColumns),
		[]kernelUse{{&k.weighted[0], "weighted", 1}, residuals}}
	if !e.cpu {
		all.files = strings.TrimSuffix(all.files, "project") + "tile project/64"
		dense.files, dense.macros = "tile score/4 score/16 score/64 sums", sums+groups
		dense.kernels = append(dense.kernels, kernelUse{&k.score[width64], "score_64", big})
		evaluator = program{"vector residual tile weighted/16 weighted/64", groups + " -DWIDTH=1",
			[]kernelUse{{&k.weighted[width16], "weighted_16", group},
				{&k.weighted[width64], "weighted_64", big}, residuals}}
	}
	groupOr1 := group
	if e.cpu {
		groupOr1 = 1
	}
	trees = program{"trees", groups, []kernelUse{{&e.histogram, "histogram", groupOr1},
		{&e.splitCount, "split_count", groupOr1}, {&e.splitMove, "split_move", groupOr1},
		{&e.addTree, "add_tree", 64}}}
	return all, dense, evaluator, trees
}

// programsFor returns what a use of examples needs; some may be compiled already.
func programsFor(e *deviceEngine, x dataset.Examples, u engine.Use) (needed []program) {
	_, dense, evaluator, _ := e.library()
	if !x.Sparse() {
		needed = append(needed, dense)
	}
	if u == engine.UseEvaluator {
		needed = append(needed, evaluator)
	}
	return needed
}

// shape is how the kernels of kernels/tile.cl divide their work on a GPU; the zero value on a CPU.
type shape struct {
	steps    int // that are in local memory at a time
	subGroup int // work-items that run together; 0 for the compiler's choice
}

func (s shape) macros() string {
	switch {
	case s.steps == 0:
		return ""
	case s.subGroup == 0:
		return fmt.Sprintf(" -DSTEPS=%d", s.steps)
	}
	return fmt.Sprintf(" -DSTEPS=%d -DSUB_GROUP=%d", s.steps, s.subGroup)
}

// shapes returns the shapes to try, the best first. make gpu-compilers has the figures: Intel's
// GPUs have 128 registers of 8 or, on the larger ones, 16 values. Sums of 8 × 8 fit only if few
// steps lie ahead and a work-item takes one lane of a register, by sub-groups that only some
// devices have.
func (e *deviceEngine) shapes() []shape {
	switch {
	case e.build.shape != shape{}:
		return []shape{e.build.shape}
	case e.cpu:
		return []shape{{}}
	case strings.Contains(e.info.Vendor, "Intel") && !e.info.processor():
		return []shape{{2, 8}, {4, 16}, {2, 0}}
	}
	return []shape{{8, 0}}
}

// tile returns the shape of a tile of kernels/tile.cl, for factors in panels of this many columns,
// and the work-items of its work-groups.
func (e *deviceEngine) tile(panel int) (items, tall, broad int) {
	items, rows, columns := e.group, 4, min(panel, 8)
	if panel > atOnce[width16] {
		items, rows = e.bigGroup, 8
	}
	across := min(items, panel/columns)
	return items, items / across * rows, across * columns
}

// text puts the files of a program together, in the order of kernels.Names.
// name/4 is that file with CLASSES = 4.
func (p program) text(sources []string) []string {
	all := []string{sources[0]}
	for _, name := range strings.Fields(p.files) {
		name, classes, several := strings.Cut(name, "/")
		text := sources[slices.Index(kernels.Names, name+".cl")]
		if several {
			text = "#define CLASSES " + classes + "\n" + text + "#undef CLASSES\n"
		}
		all = append(all, text)
	}
	return all
}

// vectorWidth returns how many values the vectors of kernels/vector.cl have on a device: 4 on
// a GPU, 16 on a CPU whose vectors hold them, else 8. wanted is for tests, or 0.
func vectorWidth(d *cl.Device, cpu bool, wanted int) int {
	if !cpu {
		return 4
	}
	if wanted == 0 {
		wanted, _ = recovered(d.NativeVectorWidthFloat)
	}
	if wanted >= 16 {
		return 16
	}
	return 8
}
