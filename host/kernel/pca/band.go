package pca

import (
	"math"
	"math/rand/v2"
	"slices"

	lapackgo "gonum.org/v1/gonum/lapack/gonum"

	"github.com/uma-gpu/uma-gpu/internal/parallel"
)

// band is a symmetric n×n band matrix T: a[j·(width+1)+o] is T[j+o][j], 0 ≤ o ≤ width.
type band struct {
	width, n int
	a        []float64
}

// extend adds width rows and columns. r, upper triangular, couples them with the last ones: it goes
// to the left of the new, still empty block on the diagonal.
func (t *band) extend(r []float64) {
	for j := max(t.n-t.width, 0); j < t.n; j++ {
		c := j - t.n + t.width
		for i := range c + 1 {
			t.a[j*(t.width+1)+t.width-c+i] = r[i*t.width+c]
		}
	}
	t.n += t.width
	t.a = append(t.a, make([]float64, t.width*(t.width+1))...)
}

// diagonal enters the symmetric part of c, width × width, as the last block on the diagonal.
func (t *band) diagonal(c []float64) {
	for j := range t.width {
		for i := j; i < t.width; i++ {
			t.a[(t.n-t.width+j)*(t.width+1)+i-j] = (c[i*t.width+j] + c[j*t.width+i]) / 2
		}
	}
}

// eigenvalues returns all eigenvalues in decreasing order: plane rotations to tridiagonal
// form (Schwarz 1968), then the QL iteration without square roots.
func (t *band) eigenvalues() []float64 {
	d, e := t.tridiagonal()
	if ok := (lapackgo.Implementation{}).Dsterf(t.n, d, e); !ok {
		for i := range d { // no known matrix gets here; NaN converges nowhere
			d[i] = math.NaN()
		}
	}
	slices.Reverse(d)
	return d
}

// tridiagonal returns the diagonal and the other diagonal of a tridiagonal matrix with the
// same eigenvalues.
func (t *band) tridiagonal() (d, e []float64) {
	// One more diagonal has room for the entry that a rotation makes outside the band.
	ld := t.width + 2
	a := make([]float64, t.n*ld)
	for j := range t.n {
		copy(a[j*ld:], t.a[j*(t.width+1):(j+1)*(t.width+1)])
	}
	for i := range t.n {
		for o := min(t.width, t.n-1-i); o > 1; o-- {
			// Entry (q, column) becomes 0, by rotating rows and columns q-1 and q; that makes
			// an entry outside the band, which is chased down.
			for column, q := i, i+o; q < t.n; column, q = q-1, q+t.width {
				if !rotate(a, ld, t.n, column, q, t.width) {
					break
				}
			}
		}
	}
	d, e = make([]float64, t.n), make([]float64, max(t.n-1, 0))
	for j := range d {
		d[j] = a[j*ld]
		if j < t.n-1 {
			e[j] = a[j*ld+1]
		}
	}
	return d, e
}

// rotate makes entry (q, column) of a 0 against the one above it. It returns false if it is
// 0 already.
func rotate(a []float64, ld, n, column, q, width int) bool {
	p := q - 1
	y := a[column*ld+q-column]
	if y == 0 {
		return false
	}
	x := a[column*ld+p-column]
	h := math.Hypot(x, y)
	c, s := x/h, y/h
	a[column*ld+p-column], a[column*ld+q-column] = h, 0
	for j := column + 1; j < p; j++ { // rows p and q
		at := a[j*ld+p-j : j*ld+q-j+1]
		u, v := at[0], at[1]
		at[0], at[1] = float64(c*u)+float64(s*v), float64(c*v)-float64(s*u)
	}
	pp, qp, qq := a[p*ld], a[p*ld+1], a[q*ld]
	cc, ss, cs := float64(c*c), float64(s*s), float64(c*s)
	a[p*ld] = float64(cc*pp) + float64(ss*qq) + float64(2*cs*qp)
	a[q*ld] = float64(ss*pp) + float64(cc*qq) - float64(2*cs*qp)
	a[p*ld+1] = float64((cc-ss)*qp) + float64(cs*(qq-pp))
	last := min(q+width, n-1) // columns p and q
	below, beside := a[p*ld+2:p*ld+1+last-p], a[q*ld+1:q*ld+1+last-q]
	beside = beside[:len(below)]
	for r, u := range below {
		v := beside[r]
		below[r], beside[r] = float64(c*u)+float64(s*v), float64(c*v)-float64(s*u)
	}
	return true
}

// vectors returns an eigenvector of length 1 for each of the given eigenvalues, which
// decrease, by two steps of inverse iteration. Only vectors of eigenvalues that are equal
// but for rounding need to be told apart by orthogonalization.
func (t *band) vectors(values []float64) [][]float64 {
	const equal = 1e-9 // relative to the largest
	vectors := make([][]float64, len(values))
	var starts []int
	for i, v := range values {
		if i == 0 || values[i-1]-v > equal*math.Abs(values[0]) {
			starts = append(starts, i)
		}
	}
	starts = append(starts, len(values))
	parallel.Tasks(len(starts)-1, func(k int) {
		f := newFactors(t)
		for i := starts[k]; i < starts[k+1]; i++ {
			rng := rand.New(rand.NewPCG(uint64(i), 0x62616e64)) // "band"
			x := make([]float64, t.n)
			for j := range x {
				x[j] = rng.NormFloat64()
			}
			f.factor(t, values[i])
			for range 2 {
				f.solve(x)
				for range 2 {
					for _, other := range vectors[starts[k]:i] {
						subtract(x, other)
					}
				}
				normalize(x)
			}
			vectors[i] = x
		}
	})
	return vectors
}

// subtract makes x orthogonal to y, of length 1.
func subtract(x, y []float64) {
	dot := 0.0
	for j, v := range x {
		dot += float64(v * y[j])
	}
	for j, v := range y {
		x[j] -= float64(dot * v)
	}
}

func normalize(x []float64) {
	largest, sum := 0.0, 0.0
	for _, v := range x {
		largest = max(largest, math.Abs(v))
	}
	for j := range x {
		x[j] /= largest
		sum += float64(x[j] * x[j])
	}
	for j := range x {
		x[j] /= math.Sqrt(sum)
	}
}

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
