// Command gen writes the assembly of package simd. It is a module of its own, so
// that nobody who uses uma-gpu needs avo. Run it by go generate in cpuref/simd.
//
// What each function computes is said by its twin in Go, in kernels.go; here
// stands only how. No function reads or writes outside the slices it is given.
package main

import (
	"flag"
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	project := flag.Bool("project", false, "write the kernels of projection, else all others")
	evaluate := flag.Bool("evaluate", false, "write the kernels of evaluation")
	flag.Parse()
	ConstraintExpr("amd64,!purego")
	vectors512, vectors256 := func() VecVirtual { return ZMM() }, func() VecVirtual { return YMM() }
	if *evaluate {
		kernelConstants(softmaxConstants...)
		laneTable()
		for _, level := range []struct {
			name   string
			vector func() VecVirtual
			most   int
			narrow int // rows up to which four vectors are done at once, else two
		}{{"AVX512", vectors512, 14, 6}, {"AVX2", vectors256, 6, 2}} {
			weighted(level.name, level.vector, level.most, func(rows int) int {
				if rows <= level.narrow {
					return 4
				}
				return 2
			})
			spread(level.name, level.vector)
			residuals("posterior", level.name, level.vector, false)
			residuals("given", level.name, level.vector, true)
		}
		columnSums512()
		columnSumsAVX2()
		Generate()
		return
	}
	if *project {
		product("AVX512", ZMM, 12)
		product("AVX2", YMM, 6)
		kernelConstants()
		rbf("AVX512", ZMM)
		rbf("AVX2", YMM)
		poly("AVX512", ZMM)
		poly("AVX2", YMM)
		Generate()
		return
	}
	for _, n := range []int{2, 4, 6, 8, 10, 12, 16} {
		dense512(n)
	}
	denseAVX2(2)
	denseAVX2(4)
	sparse(2)
	sparse(8)
	sparse(16)
	region512()
	regionAVX2()
	estimate("AVX512", func() VecVirtual { return ZMM() })
	estimate("AVX2", func() VecVirtual { return YMM() })
	bound512()
	boundAVX2()
	copyRow()
	for _, sub := range []bool{false, true} {
		accumulate512(sub)
		accumulateAVX2(sub)
		accumulateSparse(sub)
	}
	transfer512()
	transferAVX2()
	toFloat512()
	toFloatAVX2()
	combine("AVX512", 64)
	combine("AVX2", 32)
	norms512()
	normsAVX2()
	Generate()
}

const (
	chunk = 256 // columns (clause 1)
	block = 256 // examples (clause 14)
	lanes = 16  // examples in a block, classes in a group of norms
)

func comment(format string, a ...any) { Comment(fmt.Sprintf(format, a...)) }

// length loads the length of a slice parameter.
func length(name string) GPVirtual { return Load(Param(name).Len(), GP64()).(GPVirtual) }

// base loads the first address of a slice parameter.
func base(name string) GPVirtual { return Load(Param(name).Base(), GP64()).(GPVirtual) }

// value loads a parameter of 8 bytes.
func value(name string) GPVirtual { return Load(Param(name), GP64()).(GPVirtual) }

// address returns where a parameter lies, to use or change it in place.
func address(c gotypes.Component) Mem {
	b, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}
