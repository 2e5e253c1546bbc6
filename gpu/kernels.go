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
// computes at once, as in atOnce, and weighted too on a GPU, from its second on. evaluate is for
// CPUs.
type denseKernels struct {
	score, weighted    [3]*compiled
	moveSums, evaluate *compiled
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
var fixedGroups = []string{"add_groups", "score_4", "score_16", "score_64", "product", "residuals",
	"weighted_16", "weighted_64"}

// library is all programs that an engine may have compiled, by what they serve. A driver may take
// 50 ms for a program that it remembers, so there are few, and what only some examples need, beyond
// the self-test, is compiled when they are loaded.
type library struct {
	all, evaluator []program

	dense, weighted []program // on a CPU dense has weighted too
}

// groups returns them, in a fixed order.
func (l *library) groups() [][]program {
	all := [][]program{l.all, l.evaluator, l.dense, l.weighted}
	return slices.DeleteFunc(all, func(g []program) bool { return len(g) == 0 })
}

// library returns the programs, whose kernels e keeps.
func (e *deviceEngine) library() (l library) {
	group, wide, big, vector := e.group, e.wideGroup, e.bigGroup, e.vector
	product := "project"
	if !e.cpu {
		product = "tile project/64"
	}
	sums := fmt.Sprintf(" -DSUM_COLUMNS=%d", e.sumColumns())
	weighted := fmt.Sprintf(" -DWIDTH=%d -DGROUP=%d -DCOLUMNS=%d -DBLOCK=%d", vector, group,
		weightedColumns, numerics.Block)
	groups := fmt.Sprintf(" -DGROUP=%d -DBIG=%d", group, big)
	residual := 1 // examples of a vector
	if e.cpu {
		residual = vector
	}
	l.all = []program{{
		"region update add vector sparse weightedsparse kernelvalue projectsparse " + product,
		fmt.Sprintf("%s -DWIDTH=%d -DGROUP=%d -DBIG=%d -DBLOCK=%d", sums, vector, group, big,
			numerics.Block), []kernelUse{
			{&e.predict, "predict", 64},
			{&e.turnScores, "turn_scores", group}, {&e.assign, "assign", group},
			{&e.updateVectors, "update_vectors", 64}, {&e.norms, "norms", group},
			{&e.addGroups, "add_groups", wide}, {&e.clearSums, "clear_sums", 64},
			{&e.scoreSparse, "score_sparse", 64},
			// One work-group moves a cell; a CPU runs a work-group on one core anyway.
			{&e.moveSumsSparse, "move_sums_sparse", group},
			{&e.weightedSparse, "weighted_sparse", group},
			{&e.product, "product", big}, {&e.squares, "squares", group},
			{&e.productSparse, "product_sparse", group}, {&e.squaresSparse, "squares_sparse", group}}}}
	l.evaluator = []program{{"vector residual",
		fmt.Sprintf(" -DWIDTH=%d -DGROUP=%d", residual, group),
		[]kernelUse{{&e.residuals, "residuals", group}}}}
	k := &e.dense
	scores := []kernelUse{{&k.score[width4], "score_4", group}, {&k.score[width16], "score_16", group}}
	moves := []kernelUse{{&k.moveSums, "move_sums", wide}}
	if e.cpu { // with a kernel that does an evaluation at once, too
		l.dense = []program{{"score/4 score/16 vector residual weighted evaluate sums",
			fmt.Sprintf("%s%s -DROWS=%d -DFEW=%d -DMANY=%d", weighted, sums, scoreRows, atOnce[width4],
				atOnce[width16]),
			slices.Concat(scores, moves, []kernelUse{{&k.weighted[0], "weighted", 1},
				{&k.evaluate, "evaluate", 1}})}}
		return l
	}
	l.dense = []program{
		{"tile score/4 score/16 score/64", groups,
			append(scores, kernelUse{&k.score[width64], "score_64", big})},
		{"sums", sums, moves},
	}
	l.weighted = []program{{"tile weighted/16 weighted/64", groups + fmt.Sprintf(" -DBLOCK=%d",
		numerics.Block), []kernelUse{
		{&k.weighted[width16], "weighted_16", group}, {&k.weighted[width64], "weighted_64", big}}}}
	return l
}

// programsFor returns what a use of examples needs besides library.all; some may be compiled
// already. Evaluations by several kernels need library.evaluator too.
func programsFor(e *deviceEngine, x dataset.Examples, u engine.Use) []program {
	l := e.library()
	switch {
	case x.Sparse():
		return nil
	case u == engine.UseEvaluator:
		return slices.Concat(l.dense, l.weighted)
	}
	return l.dense
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
