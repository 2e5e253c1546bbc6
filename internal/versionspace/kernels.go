package versionspace

// kernels are the inner loops of expectation propagation, that is with one set of instructions.
// What each does is said, and done, by its twin in Go below; tests compare all levels with it.
type kernels struct {
	level string

	addFour func(l []float64, stride, from, to int, x [4][]float64, tau [4]float64)
	solve   func(y []side, l []float64, stride int) (lengths side)
}

// side has a number of each of abreast examples that are computed side by side: their sums do not
// wait for each other.
type side [abreast]float64

const (
	abreast = 16
	// block is the number of float64 that the longest vector has: rows are padded to a multiple of it.
	block = 8
)

// padded returns d rounded up to a multiple of block.
func padded(d int) int { return (d + block - 1) / block * block }

// available lists the levels that this processor and this build can use, slowest first.
func available() []*kernels { return append([]*kernels{&portable}, assembly()...) }

// fastest is the last of them.
var fastest = func() *kernels {
	all := available()
	return all[len(all)-1]
}()

var portable = kernels{level: "Go", addFour: addFourGo, solve: solveGo}

// addFourGo adds Σ_k τ_k·x_k·x_kᵀ to the rows from..to of l, as many numbers apart as stride says:
// to the part on and below the diagonal. In what is above, up to the next multiple of block, it
// may leave anything.
func addFourGo(l []float64, stride, from, to int, x [4][]float64, tau [4]float64) {
	for j := from; j < to; j++ {
		a, b, c, e := x[0][:j+1], x[1][:j+1], x[2][:j+1], x[3][:j+1]
		fa, fb, fc, fe := tau[0]*a[j], tau[1]*b[j], tau[2]*c[j], tau[3]*e[j]
		row := l[j*stride : j*stride+j+1]
		a, b, c, e = a[:len(row)], b[:len(row)], c[:len(row)], e[:len(row)]
		for m, v := range row {
			v += float64(fa * a[m])
			v += float64(fb * b[m])
			v += float64(fc * c[m])
			v += float64(fe * e[m])
			row[m] = v
		}
	}
}

// solveGo replaces x in y, as many numbers for each example as y has elements, by L⁻¹x, and
// returns the squares of the lengths. l is L as cholesky leaves it.
func solveGo(y []side, l []float64, stride int) (lengths side) {
	for part := 0; part < abreast; part += 4 {
		for j := range y {
			row := l[j*stride : j*stride+j]
			before := y[:len(row)]
			var a, b, c, e float64
			for k, v := range row {
				at := (*[4]float64)(before[k][part:])
				a += float64(v * at[0])
				b += float64(v * at[1])
				c += float64(v * at[2])
				e += float64(v * at[3])
			}
			at, by, sums := (*[4]float64)(y[j][part:]), l[j*stride+j], (*[4]float64)(lengths[part:])
			for k, sum := range [4]float64{a, b, c, e} {
				at[k] = (at[k] - sum) * by
				sums[k] += float64(at[k] * at[k])
			}
		}
	}
	return lengths
}
