package numerics

// Dot64 returns ⟨x, y⟩ over the length of x in float64, as four interleaved sums.
func Dot64(x, y []float64) float64 {
	y = y[:len(x)]
	var a, b, c, d float64
	j := 0
	for ; j+4 <= len(x); j += 4 {
		a += float64(x[j] * y[j])
		b += float64(x[j+1] * y[j+1])
		c += float64(x[j+2] * y[j+2])
		d += float64(x[j+3] * y[j+3])
	}
	for ; j < len(x); j++ {
		a += float64(x[j] * y[j])
	}
	return (a + b) + (c + d)
}

// AddScaled64 adds a·x to y in float64.
func AddScaled64(y []float64, a float64, x []float64) {
	y = y[:len(x)]
	for j, v := range x {
		y[j] += float64(a * v)
	}
}

// AddScaled4 does what four calls of AddScaled64 do one after another, and reads y once.
func AddScaled4(y []float64, a [4]float64, x [4][]float64) {
	x0, x1, x2, x3 := x[0][:len(y)], x[1][:len(y)], x[2][:len(y)], x[3][:len(y)]
	a0, a1, a2, a3 := a[0], a[1], a[2], a[3]
	for j, v := range y {
		v += float64(a0 * x0[j])
		v += float64(a1 * x1[j])
		v += float64(a2 * x2[j])
		y[j] = v + float64(a3*x3[j])
	}
}

// SwapLower exchanges rows and columns i and j, i ≤ j, of a symmetric n×n matrix whose lower
// triangle is in a, row-major.
func SwapLower(a []float64, n, i, j int) {
	if i == j {
		return
	}
	for c := range i {
		a[i*n+c], a[j*n+c] = a[j*n+c], a[i*n+c]
	}
	a[i*n+i], a[j*n+j] = a[j*n+j], a[i*n+i]
	for c := i + 1; c < j; c++ {
		a[c*n+i], a[j*n+c] = a[j*n+c], a[c*n+i]
	}
	for r := j + 1; r < n; r++ {
		a[r*n+i], a[r*n+j] = a[r*n+j], a[r*n+i]
	}
}
