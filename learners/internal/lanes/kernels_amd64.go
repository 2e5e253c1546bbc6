//go:build !purego

package lanes

import (
	"slices"
	"unsafe"

	"golang.org/x/sys/cpu"
)

// assembly lists the kernels that the processor, and the operating system, which has to save the
// registers, can run. Only groups of 16 gain from the long vectors of AVX-512.
func assembly() []*kernels {
	x := cpu.X86
	if !x.HasAVX2 || !x.HasFMA {
		return nil
	}
	width16 := []group{
		{16, dots16AVX2, add16AVX2, sparse16AVX2, addSparse16AVX2},
		{8, dots8AVX2, add8AVX2, sparse8AVX2, addSparse8AVX2},
		{4, dots4AVX2, add4AVX2, sparse4AVX2, addSparse4AVX2},
	}
	all := []*kernels{level("AVX2", width16, lateSparseAVX2, late32AVX2, 32)}
	if !x.HasAVX512F || !x.HasAVX512DQ || !x.HasAVX512VL {
		return all
	}
	width64 := append([]group{
		{17, nil, nil, sparse32AVX512, addSparse32AVX512},
		{16, dots16AVX512, add16AVX512, sparse16AVX512, addSparse16AVX512},
	}, width16[1:]...)
	k := level("AVX-512", width64, lateSparseAVX512, late64AVX512, 64)
	k.addDots = func(x, y, w []float32, at *[chains]int, present, columns int,
		acc *[chains * most]float32, tau *[most]float32) {
		addDots16AVX512(unsafe.SliceData(x), unsafe.SliceData(y), unsafe.SliceData(w), at, present,
			columns, acc, tau)
	}
	return append(all, k)
}

// group are the functions for a number of lanes: exactly lanes of them, or 17 to 32 if lanes is
// 17, and then of sparse examples alone. There, these are some of the lanes that lie side by side
// in a column; stride is the distance of columns in bytes.
type group struct {
	lanes  int
	dots   func(x, w *float32, at *[chains]int, columns int, acc *[chains * most]float32)
	add    func(x *float32, columns int, w *float32, tau *[most]float32)
	sparse func(columns *int32, values *float32, stored int, w *float32, stride, lanes int,
		out *float32)
	addSparse func(columns *int32, values *float32, stored int, w *float32, stride, lanes int,
		tau *float32)
}

// level returns kernels made of groups, by decreasing lanes, and of late, which adds n terms to
// columns sums at once.
func level(name string, groups []group,
	lateSparse func(columns *int32, values *float32, stored int, sums, by *float64, lanes int),
	late func(sums *float64, terms *term, n int, x *float64), columns int) *kernels {
	of := func(lanes int) group {
		return groups[slices.IndexFunc(groups, func(g group) bool { return g.lanes == lanes })]
	}
	// each calls f for n lanes from a place on, until all had their turn.
	each := func(lanes int, f func(g group, from, n int)) {
		for from := 0; from < lanes; {
			left := lanes - from
			g := groups[slices.IndexFunc(groups, func(g group) bool { return left >= g.lanes })]
			n := g.lanes
			if n == 17 {
				n = min(left, 32)
			}
			f(g, from, n)
			from += n
		}
	}
	return &kernels{
		level: name,
		dots: func(lanes int, x, w []float32, at *[chains]int, columns int, acc *[chains * most]float32) {
			of(lanes).dots(unsafe.SliceData(x), unsafe.SliceData(w), at, columns, acc)
		},
		sparse: func(columns []int32, values, w, out []float32) {
			each(len(out), func(g group, from, n int) {
				g.sparse(unsafe.SliceData(columns), unsafe.SliceData(values), len(columns), &w[from],
					4*len(out), n, &out[from])
			})
		},
		add: func(lanes int, x, w []float32, tau *[most]float32) {
			of(lanes).add(unsafe.SliceData(x), len(x), unsafe.SliceData(w), tau)
		},
		addSparse: func(columns []int32, values, w, tau []float32) {
			each(len(tau), func(g group, from, n int) {
				g.addSparse(unsafe.SliceData(columns), unsafe.SliceData(values), len(columns), &w[from],
					4*len(tau), n, &tau[from])
			})
		},
		late: func(sums []float64, terms []term, x []float64) {
			for ; len(sums) >= columns; sums, x = sums[columns:], x[columns:] {
				late(unsafe.SliceData(sums), unsafe.SliceData(terms), len(terms), unsafe.SliceData(x))
			}
			lateGo(sums, terms, x)
		},
		widen: func(dst []float64, src []float32) {
			n := len(src) / 4 * 4
			widenAVX2(unsafe.SliceData(dst), unsafe.SliceData(src), n)
			widenGo(dst[n:], src[n:])
		},
		lateSparse: func(columns []int32, values []float32, sums, by []float64) {
			lateSparse(unsafe.SliceData(columns), unsafe.SliceData(values), len(columns),
				unsafe.SliceData(sums), unsafe.SliceData(by), len(by))
		},
		prefetch: func(x Row) {
			prefetch(unsafe.Pointer(unsafe.SliceData(x.Values)), (len(x.Values)+15)/16)
			prefetch(unsafe.Pointer(unsafe.SliceData(x.Columns)), (len(x.Columns)+15)/16)
		},
	}
}

//go:noescape
func dots4AVX2(x, w *float32, at *[chains]int, columns int, acc *[chains * most]float32)

//go:noescape
func sparse4AVX2(columns *int32, values *float32, stored int, w *float32, stride, lanes int,
	out *float32)

//go:noescape
func add4AVX2(x *float32, columns int, w *float32, tau *[most]float32)

//go:noescape
func addSparse4AVX2(columns *int32, values *float32, stored int, w *float32, stride, lanes int,
	tau *float32)

//go:noescape
func dots8AVX2(x, w *float32, at *[chains]int, columns int, acc *[chains * most]float32)

//go:noescape
func sparse8AVX2(columns *int32, values *float32, stored int, w *float32, stride, lanes int,
	out *float32)

//go:noescape
func add8AVX2(x *float32, columns int, w *float32, tau *[most]float32)

//go:noescape
func addSparse8AVX2(columns *int32, values *float32, stored int, w *float32, stride, lanes int,
	tau *float32)

//go:noescape
func dots16AVX2(x, w *float32, at *[chains]int, columns int, acc *[chains * most]float32)

//go:noescape
func sparse16AVX2(columns *int32, values *float32, stored int, w *float32, stride, lanes int,
	out *float32)

//go:noescape
func add16AVX2(x *float32, columns int, w *float32, tau *[most]float32)

//go:noescape
func addSparse16AVX2(columns *int32, values *float32, stored int, w *float32, stride, lanes int,
	tau *float32)

//go:noescape
func dots16AVX512(x, w *float32, at *[chains]int, columns int, acc *[chains * most]float32)

//go:noescape
func sparse16AVX512(columns *int32, values *float32, stored int, w *float32, stride, lanes int,
	out *float32)

//go:noescape
func sparse32AVX512(columns *int32, values *float32, stored int, w *float32, stride, lanes int,
	out *float32)

//go:noescape
func addSparse32AVX512(columns *int32, values *float32, stored int, w *float32, stride, lanes int,
	tau *float32)

//go:noescape
func add16AVX512(x *float32, columns int, w *float32, tau *[most]float32)

//go:noescape
func addSparse16AVX512(columns *int32, values *float32, stored int, w *float32, stride, lanes int,
	tau *float32)

//go:noescape
func addDots16AVX512(x, y, w *float32, at *[chains]int, present, columns int,
	acc *[chains * most]float32, tau *[most]float32)

//go:noescape
func late32AVX2(sums *float64, terms *term, n int, x *float64)

//go:noescape
func late64AVX512(sums *float64, terms *term, n int, x *float64)

//go:noescape
func lateSparseAVX2(columns *int32, values *float32, stored int, sums, by *float64, lanes int)

//go:noescape
func lateSparseAVX512(columns *int32, values *float32, stored int, sums, by *float64, lanes int)

//go:noescape
func widenAVX2(dst *float64, src *float32, n int)

//go:noescape
func prefetch(at unsafe.Pointer, lines int)
