// Package simd is the engine for processors: the bits of cpuref, computed with
// AVX-512 or with AVX2 and FMA where the processor has them, else by plain Go
// loops. It needs neither OpenCL nor cgo. The tag purego leaves the assembly out.
//
// Where a result depends on the order of its operations (clauses 1, 4 and 6 of
// the numerics contract), each vector lane owns one result and goes through
// its operations in the order that the contract fixes: lanes are examples in
// scores, predictions and residuals, classes in norms, and in weighted sums columns
// or, of sparse examples, rows of coefficients. Dense examples are used where they are.
//
// The assembly is generated from internal/gen, a module of its own.
package simd

//go:generate go run -C internal/gen . -out ../../kernels_amd64.s -stubs ../../kernels_amd64.go -pkg simd
//go:generate go run -C internal/gen . -project -out ../../project_amd64.s -stubs ../../project_amd64.go -pkg simd
//go:generate go run -C internal/gen . -evaluate -out ../../evaluate_amd64.s -stubs ../../evaluate_amd64.go -pkg simd
