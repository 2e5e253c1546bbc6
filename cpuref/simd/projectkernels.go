package simd

import (
	"github.com/uma-gpu/uma-gpu/host/kernel"
	"github.com/uma-gpu/uma-gpu/host/numerics"
)

const (
	productRows    = 12 // rows of a block
	productColumns = 32 // columns of a panel
)

// projectKernels are the inner loops of Project.
type projectKernels struct {
	product func(x []float32, stride, blocks, columns int, w, totals []float32, step int, first bool)
	rbf     func(values []float32, xx, gamma float32, yy []float32)
	poly    func(values []float32, gamma, coef0 float32, degree int)
}

// productGo adds one chunk to dot products of 12·blocks rows and the 32 columns of a panel
// (clause 1). Row i of x has columns values from x[i·stride]; w has the 32 values of the
// panel for each of them; the totals of row i are the 32 from totals[i·step], counted as 0 if
// this is the first chunk.
func productGo(x []float32, stride, blocks, columns int, w, totals []float32, step int,
	first bool) {
	for i := range productRows * blocks {
		var acc [productColumns]float32
		for j, v := range x[i*stride : i*stride+columns] {
			for c, weight := range w[j*productColumns : (j+1)*productColumns] {
				acc[c] = numerics.FMA(v, weight, acc[c])
			}
		}
		for c, total := range totals[i*step : i*step+productColumns] {
			if first {
				total = 0
			}
			totals[i*step+c] = total + acc[c]
		}
	}
}

// rbfGo replaces dot products of an example with landmarks by kernel values (clause 13): xx is
// ⟨x,x⟩, yy has ⟨y,y⟩ of each landmark. len(values) is a multiple of 16.
func rbfGo(values []float32, xx, gamma float32, yy []float32) {
	f := kernel.Function{Kind: kernel.RBF, Gamma: gamma}
	for l, v := range values {
		values[l] = f.Value(v, xx, yy[l])
	}
}

// polyGo is rbfGo for polynomials.
func polyGo(values []float32, gamma, coef0 float32, degree int) {
	f := kernel.Function{Kind: kernel.Poly, Gamma: gamma, Coef0: coef0, Degree: degree}
	for l, v := range values {
		values[l] = f.Value(v, 0, 0)
	}
}
