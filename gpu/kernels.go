//go:build cgo && !noopencl

package gpu

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"slices"
)

//go:embed kernels/*.cl
var kernelFiles embed.FS

// kernelNames are the kernel files. The first is put before all others.
var kernelNames = []string{"contract.cl", "score.cl", "region.cl", "bound.cl", "sums.cl", "sparse.cl", "update.cl"}

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

// KernelsHash identifies the kernels of this build: 64 hexadecimal digits.
func KernelsHash() (string, error) {
	sources, err := kernelSources()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, text := range sources {
		fmt.Fprintf(h, "%d\n%s", len(text), text) // a hash takes everything
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// program is some kernel files that are compiled together. There are several, so that
// a driver that remembers what it compiled has less to compile when a file, or a macro
// of the tuning, changes.
type program struct {
	files   []string
	macros  func(Tuning) string // options of the compiler
	kernels func(*gpuEngine) []kernelUse
}

// kernelUse is a kernel, where the engine keeps it, and how many work-items are in a
// work-group.
type kernelUse struct {
	to    **kernel
	name  string
	local int
}

var programs = []program{
	{[]string{"score.cl"}, func(t Tuning) string {
		return fmt.Sprintf(" -DGROUP=%d -DROWS=%d -DWIDTH=%d", t.ScoreGroup, t.ScoreRows, min(t.ScoreWidth, t.ScoreGroup))
	}, func(e *gpuEngine) []kernelUse {
		return []kernelUse{{&e.scoreFew, "score_4", e.tuning.ScoreGroup}, {&e.scoreMany, "score_16", e.tuning.ScoreGroup}}
	}},
	{[]string{"region.cl", "bound.cl"}, noMacros, func(e *gpuEngine) []kernelUse {
		return []kernelUse{{&e.predict, "predict", 64}, {&e.assign, "assign", e.tuning.Group}, {&e.bound, "bound", e.tuning.Group}, {&e.assignListed, "assign_listed", 64}}
	}},
	{[]string{"sums.cl"}, func(t Tuning) string {
		return fmt.Sprintf(" -DCOLUMNS=%d", t.SumColumns)
	}, func(e *gpuEngine) []kernelUse {
		local := e.tuning.Group
		if e.cpu {
			local = 1 // which takes many columns
		}
		return []kernelUse{{&e.sumGroups, "sum_groups", local}, {&e.addGroups, "add_groups", local}}
	}},
	{[]string{"sparse.cl"}, noMacros, func(e *gpuEngine) []kernelUse {
		// One work-group moves a cell; a CPU runs a work-group on one core anyway.
		return []kernelUse{{&e.scoreSparse, "score_sparse", 64}, {&e.moveSumsSparse, "move_sums_sparse", e.tuning.Group}}
	}},
	{[]string{"update.cl"}, noMacros, func(e *gpuEngine) []kernelUse {
		return []kernelUse{{&e.updateVectors, "update_vectors", 64}, {&e.norms, "norms", e.tuning.Group}}
	}},
}

func noMacros(Tuning) string { return "" }

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
