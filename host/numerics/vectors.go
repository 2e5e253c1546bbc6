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
