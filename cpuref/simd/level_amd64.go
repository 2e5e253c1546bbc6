//go:build !purego

package simd

import "golang.org/x/sys/cpu"

// assembly lists the kernels that the processor, and the operating system, which
// has to save the registers, can run.
func assembly() []*kernels {
	var all []*kernels
	x := cpu.X86
	if x.HasAVX2 && x.HasFMA {
		all = append(all, &avx2)
		if x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512VL && x.HasBMI2 {
			all = append(all, &avx512)
		}
	}
	return all
}

var avx2 = kernels{
	level: "AVX2",
	dense: []denseKernel{dense2AVX2, dense4AVX2}, widths: []int{2, 4},
	sparse: []sparseKernel{sparse8AVX2}, sparseWidths: []int{8},
	region: regionAVX2,
	add:    addAVX2, toFloat: toFloatGo, combine: combineAVX2, norms: normsAVX2,
	binKernels:     binGo,
	projectKernels: projectKernels{product: productAVX2, rbf: rbfAVX2},
	evaluateKernels: evaluateKernels{weighted: weightedAVX2, mostRows: 6, spread: spreadAVX2,
		posterior: posteriorAVX2, given: givenAVX2,
		columnSums: []columnsKernel{columnSums16AVX2, columnSums32AVX2}},
}

var avx512 = kernels{
	level: "AVX-512",
	dense: []denseKernel{
		dense2AVX512, dense4AVX512, dense6AVX512, dense8AVX512, dense10AVX512, dense16AVX512,
		dense32AVX512,
	},
	widths: []int{2, 4, 6, 8, 10, 16, 32},
	sparse: []sparseKernel{sparse16AVX512, sparse32AVX512}, sparseWidths: []int{16, 32}, fewer: true,
	region: regionAVX512,
	add:    addAVX512, toFloat: toFloatAVX512, combine: combineAVX512, norms: normsAVX512,
	binKernels:     binGo,
	projectKernels: projectKernels{product: productAVX512, rbf: rbfAVX512},
	evaluateKernels: evaluateKernels{weighted: weightedAVX512, mostRows: 14, spread: spreadAVX512,
		posterior: posteriorAVX512, given: givenAVX512,
		columnSums: []columnsKernel{columnSums16AVX512, columnSums32AVX512}},
}
