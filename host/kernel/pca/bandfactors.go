package pca

import "math"

// factors is T - θI = P·L·U, found with partial pivoting.
type factors struct {
	n, width, ld int
	a            []float64 // a[i·ld+j-i+width] is entry (i, j), width left and 2·width right
	pivots       []int
	tiny         float64
}

func newFactors(t *band) *factors {
	f := &factors{n: t.n, width: t.width, ld: 3*t.width + 1}
	f.a, f.pivots = make([]float64, (t.n+t.width)*f.ld), make([]int, t.n)
	for _, v := range t.a {
		f.tiny = max(f.tiny, math.Abs(v)*0x1p-52)
	}
	return f
}

func (f *factors) factor(t *band, theta float64) {
	clear(f.a)
	for j := range f.n {
		for o := range min(f.width, f.n-1-j) + 1 {
			v := t.a[j*(t.width+1)+o]
			if o == 0 {
				v -= theta
			}
			f.a[(j+o)*f.ld-o+f.width] = v
			f.a[j*f.ld+o+f.width] = v
		}
	}
	right := 2*f.width + 1 // of a row of U
	for j := range f.n {
		row := func(i int) []float64 { at := i*f.ld + j - i + f.width; return f.a[at : at+right] }
		pivot, last := j, min(j+f.width, f.n-1)
		for i := j + 1; i <= last; i++ {
			if math.Abs(row(i)[0]) > math.Abs(row(pivot)[0]) {
				pivot = i
			}
		}
		f.pivots[j] = pivot
		top := row(j)
		if pivot != j {
			for c, other := 0, row(pivot); c < right; c++ {
				top[c], other[c] = other[c], top[c]
			}
		}
		if top[0] == 0 {
			top[0] = f.tiny
		}
		for i := j + 1; i <= last; i++ {
			r := row(i)[:len(top)]
			m := r[0] / top[0]
			if r[0] = m; m != 0 {
				for c := 1; c < len(top); c++ {
					r[c] -= float64(m * top[c])
				}
			}
		}
	}
}

// solve replaces x by the solution of (T - θI)·y = x.
func (f *factors) solve(x []float64) {
	for j, pivot := range f.pivots {
		x[j], x[pivot] = x[pivot], x[j]
		for i := j + 1; i <= min(j+f.width, f.n-1); i++ {
			x[i] -= float64(f.a[i*f.ld+j-i+f.width] * x[j])
		}
	}
	for j := f.n - 1; j >= 0; j-- {
		row := f.a[j*f.ld+f.width:]
		v := x[j]
		for c := 1; c <= min(2*f.width, f.n-1-j); c++ {
			v -= float64(row[c] * x[j+c])
		}
		x[j] = v / row[0]
	}
}
