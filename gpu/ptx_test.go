//go:build ptx && linux && cgo && !noopencl

package gpu

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// ptxKernel is what the PTX of a kernel has: bytes of arrays that are no registers, and in the loop
// with the most fma, among loops that have no loop in them, its fma and its loads.
type ptxKernel struct {
	name                    string
	local                   int
	fma, loads, vectorLoads int
}

var (
	ptxEntry  = regexp.MustCompile(`(?s)\.entry (\w+)\((.*?)\n}`)
	ptxLocal  = regexp.MustCompile(`\.local \.align \d+ \.b8\s+\w+\[(\d+)\]`)
	ptxLabel  = regexp.MustCompile(`^(\$?\w+):`)
	ptxBranch = regexp.MustCompile(`\bbra(?:\.uni)?\s+(\$?\w+);`)
	ptxLoad   = regexp.MustCompile(`\bld\.(?:global|shared)\b`)
	ptxVector = regexp.MustCompile(`\bld\.(?:global|shared)[.\w]*\.v[24]\b`)
)

// ptxKernels finds the kernels in PTX.
func ptxKernels(text string) (all []ptxKernel) {
	for _, entry := range ptxEntry.FindAllStringSubmatch(text, -1) {
		k := ptxKernel{name: entry[1]}
		for _, array := range ptxLocal.FindAllStringSubmatch(entry[2], -1) {
			size := 0
			fmt.Sscan(array[1], &size)
			k.local += size
		}
		lines, labels := strings.Split(entry[2], "\n"), map[string]int{}
		type loop struct{ from, to int }
		var loops []loop
		for n, line := range lines {
			if label := ptxLabel.FindStringSubmatch(line); label != nil {
				labels[label[1]] = n
			}
			if to := ptxBranch.FindStringSubmatch(line); to != nil {
				if from, before := labels[to[1]]; before {
					loops = append(loops, loop{from, n})
				}
			}
		}
		for _, l := range loops {
			if slices.ContainsFunc(loops, func(o loop) bool {
				return o != l && l.from <= o.from && o.to <= l.to
			}) {
				continue
			}
			body := strings.Join(lines[l.from:l.to], "\n")
			fma, loads := strings.Count(body, "fma.rn.f32"), len(ptxLoad.FindAllString(body, -1))
			if fma > k.fma || fma == k.fma && loads > k.loads {
				k.fma, k.loads = fma, loads
				k.vectorLoads = len(ptxVector.FindAllString(body, -1))
			}
		}
		all = append(all, k)
	}
	return all
}
