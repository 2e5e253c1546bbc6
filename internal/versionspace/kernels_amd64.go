//go:build !purego

package versionspace

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// assembly lists the kernels that the processor, and the operating system, which has to save the
// registers, can run.
func assembly() []*kernels {
	var all []*kernels
	if cpu.X86.HasAVX2 {
		all = append(all, level("AVX2", addFourAVX2, solveAVX2))
		if cpu.X86.HasAVX512F {
			all = append(all, level("AVX-512", addFourAVX512, solveAVX512))
		}
	}
	return all
}

// level returns kernels that make sure that all that the assembly reads and writes is there.
func level(name string, addFour func(row *float64, stride, from, to int, x *[4]*float64,
	tau *[4]float64), solve func(y *side, l *float64, stride, d int, lengths *side)) *kernels {
	return &kernels{
		level: name,
		addFour: func(l []float64, stride, from, to int, x [4][]float64, tau [4]float64) {
			if from >= to {
				return
			}
			wide := padded(to)
			l = l[from*stride : (to-1)*stride+wide]
			var at [4]*float64
			for k, row := range x {
				at[k] = unsafe.SliceData(row[:wide])
			}
			addFour(unsafe.SliceData(l), stride, from, to, &at, &tau)
		},
		solve: func(y []side, l []float64, stride int) (lengths side) {
			if d := len(y); d > 0 {
				l = l[:(d-1)*stride+d]
				solve(unsafe.SliceData(y), unsafe.SliceData(l), stride, d, &lengths)
			}
			return lengths
		},
	}
}

//go:noescape
func addFourAVX2(row *float64, stride, from, to int, x *[4]*float64, tau *[4]float64)

//go:noescape
func addFourAVX512(row *float64, stride, from, to int, x *[4]*float64, tau *[4]float64)

//go:noescape
func solveAVX2(y *side, l *float64, stride, d int, lengths *side)

//go:noescape
func solveAVX512(y *side, l *float64, stride, d int, lengths *side)
