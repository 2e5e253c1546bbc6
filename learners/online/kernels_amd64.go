//go:build !purego

package online

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// available lists the kernels that the processor can run, the fastest last.
func available() []*kernels {
	if !cpu.X86.HasAVX2 || !cpu.X86.HasFMA {
		return []*kernels{&portable}
	}
	return []*kernels{&portable, {"AVX2", dotsAVX2, addAVX2, lateAVX2}}
}

func dotsAVX2(columns []int32, values, w, out []float32) {
	for from := 0; from < len(out); from += 16 {
		f := dots16
		if len(out)-from == 8 {
			f = dots8
		}
		f(unsafe.SliceData(columns), unsafe.SliceData(values), len(columns), &w[from], 4*len(out),
			&out[from])
	}
}

func addAVX2(columns []int32, values, w, tau []float32) {
	for from := 0; from < len(tau); from += 16 {
		f := add16
		if len(tau)-from == 8 {
			f = add8
		}
		f(unsafe.SliceData(columns), unsafe.SliceData(values), len(columns), &w[from], 4*len(tau),
			&tau[from])
	}
}

func lateAVX2(columns []int32, values []float32, sums, by []float64) {
	late4(unsafe.SliceData(columns), unsafe.SliceData(values), len(columns), unsafe.SliceData(sums),
		unsafe.SliceData(by), len(by))
}

// The functions of stored values in 8 and 16 of the lanes that lie side by side in a column, whose
// distance is stride bytes.

//go:noescape
func dots8(columns *int32, values *float32, stored int, w *float32, stride int, out *float32)

//go:noescape
func dots16(columns *int32, values *float32, stored int, w *float32, stride int, out *float32)

//go:noescape
func add8(columns *int32, values *float32, stored int, w *float32, stride int, tau *float32)

//go:noescape
func add16(columns *int32, values *float32, stored int, w *float32, stride int, tau *float32)

//go:noescape
func late4(columns *int32, values *float32, stored int, sums, by *float64, lanes int)
