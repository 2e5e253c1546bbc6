package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const addSignature = "func(sum []int64, x []float32, scale float32, next []float32)"

// add512 generates addAVX512. The conversion to integers rounds by the mode of the processor, which
// Go leaves at nearest, ties to even.
func add512() {
	function("addAVX512", addSignature)
	sum, x, n, next := base("sum"), base("x"), length("x"), base("next")
	scale := broadcast("scale", YMM())
	v, integers, before := YMM(), ZMM(), ZMM()
	eights(n, func(some Op) {
		if some == nil {
			PREFETCHT0(Mem{Base: next})
			VMULPS(Mem{Base: x}, scale, v)
			VCVTPS2QQ(v, integers)
			VPADDQ(Mem{Base: sum}, integers, integers)
			VMOVDQU64(integers, Mem{Base: sum})
			return
		}
		VMOVUPS_Z(Mem{Base: x}, some, v)
		VMULPS(v, scale, v)
		VCVTPS2QQ(v, integers)
		VMOVDQU64_Z(Mem{Base: sum}, some, before)
		VPADDQ(before, integers, integers)
		VMOVDQU64(integers, some, Mem{Base: sum})
	}, step{x, 4}, step{next, 4}, step{sum, 8})
}

// addAVX2 generates addAVX2, four values at a time and then one: AVX2 has no vector conversion to
// int64.
func addAVX2() {
	function("addAVX2", addSignature)
	sum, x, n, next := base("sum"), base("x"), length("x"), base("next")
	scale := XMM()
	VMOVSS(address(Param("scale")), scale)
	for _, unroll := range []int{4, 1} {
		end := fmt.Sprint("lessThan", unroll)
		Label(fmt.Sprint("loop", unroll))
		CMPQ(n, Imm(uint64(unroll)))
		JLT(LabelRef(end))
		PREFETCHT0(Mem{Base: next})
		for i := range unroll {
			v, integer := XMM(), GP64()
			VMULSS(Mem{Base: x, Disp: 4 * i}, scale, v)
			VCVTSS2SIQ(v, integer)
			ADDQ(integer, Mem{Base: sum, Disp: 8 * i})
		}
		add(4*unroll, x, next)
		add(8*unroll, sum)
		SUBQ(Imm(uint64(unroll)), n)
		JMP(LabelRef(fmt.Sprint("loop", unroll)))
		Label(end)
	}
	RET()
}

// step says by how many bytes a pointer goes forward for one value.
type step struct {
	pointer GPVirtual
	size    int
}

// eights generates a function that goes through n values, eight at a time and the last masked.
func eights(n GPVirtual, body func(some Op), steps ...step) {
	Label("loop")
	CMPQ(n, Imm(8))
	JLT(LabelRef("tail"))
	body(nil)
	for _, s := range steps {
		ADDQ(Imm(uint64(8*s.size)), s.pointer)
	}
	SUBQ(Imm(8), n)
	JMP(LabelRef("loop"))
	Label("tail")
	TESTQ(n, n)
	JE(LabelRef("done"))
	body(tailMask(n))
	finish()
}

// toFloat512 generates toFloatAVX512; it rounds by the mode of the processor.
func toFloat512() {
	function("toFloatAVX512", "func(dst []float32, src []int64)")
	dst, src, n := base("dst"), base("src"), length("src")
	v, integers := YMM(), ZMM()
	eights(n, func(some Op) {
		if some == nil {
			VCVTQQ2PS(Mem{Base: src}, v)
			VMOVUPS(v, Mem{Base: dst})
			return
		}
		VMOVDQU64_Z(Mem{Base: src}, some, integers)
		VCVTQQ2PS(integers, v)
		VMOVUPS(v, some, Mem{Base: dst})
	}, step{src, 8}, step{dst, 4})
}

// combine generates combineAVX2 and combineAVX512: two vectors at a time, since a sum over the
// labels is a chain.
func combine(l level) {
	function("combine"+l.name, "func(z, g, b []float32, unit float32)")
	z, columns, g, b, labels := base("z"), length("z"), base("g"), base("b"), length("b")
	unit := broadcast("unit", l.vector())
	loop("columns", columns, l.size/2, func() {
		acc := l.zeros(2)
		row, weight, left := GP64(), GP64(), GP64()
		MOVQ(g, row)
		MOVQ(b, weight)
		MOVQ(labels, left)
		Label("label")
		w := l.vector()
		VBROADCASTSS(Mem{Base: weight}, w)
		for i, a := range acc {
			VFMADD231PS(Mem{Base: row, Disp: l.size * i}, w, a)
		}
		ADDQ(U32(4*chunk), row)
		ADDQ(Imm(4), weight)
		DECQ(left)
		JNE(LabelRef("label"))
		for i, a := range acc {
			VMULPS(unit, a, a)
			VMOVUPS(a, Mem{Base: z, Disp: l.size * i})
		}
		ADDQ(U32(uint32(2*l.size)), g)
		ADDQ(U32(uint32(2*l.size)), z)
	})
}

// norms generates a kernel whose lanes are 16 classes: columns one after the
// other, as clause 1 wants, but the z of four of them are computed together.
func norms(l level) {
	function("norms"+l.name, "func(g []float32, columns int, bt []float32, unit float32, norm []float32)")
	g, columns, bt, labels := base("g"), value("columns"), base("bt"), length("bt")
	SHRQ(Imm(4), labels)
	unit := broadcast("unit", l.vector())
	parts := 4 * lanes / l.size
	acc := l.zeros(parts)
	for _, unroll := range []int{4, 1} {
		suffix := fmt.Sprint("Of", unroll)
		Label("columns" + suffix)
		CMPQ(columns, Imm(uint64(unroll)))
		JLT(LabelRef("rest" + suffix))
		z := make([][]VecVirtual, unroll)
		for i := range z {
			z[i] = l.zeros(parts)
		}
		weights, number, left := GP64(), GP64(), GP64()
		MOVQ(bt, weights)
		MOVQ(g, number)
		MOVQ(labels, left)
		Label("label" + suffix)
		row := l.vectors(parts)
		for i, v := range row {
			VMOVUPS(Mem{Base: weights, Disp: i * l.size}, v)
		}
		for i := range z {
			at := Mem{Base: number, Disp: 4 * i}
			if l.size == 64 {
				VFMADD231PS_BCST(at, row[0], z[i][0])
				continue
			}
			w := l.vector()
			VBROADCASTSS(at, w)
			for k, v := range z[i] {
				VFMADD231PS(row[k], w, v)
			}
		}
		ADDQ(Imm(4*lanes), weights)
		ADDQ(U32(4*chunk), number)
		DECQ(left)
		JNE(LabelRef("label" + suffix))
		for i := range z {
			for k, v := range z[i] {
				VMULPS(unit, v, v)
				VFMADD231PS(v, v, acc[k])
			}
		}
		ADDQ(Imm(uint64(4*unroll)), g)
		SUBQ(Imm(uint64(unroll)), columns)
		JMP(LabelRef("columns" + suffix))
		Label("rest" + suffix)
	}
	norm := base("norm")
	for i, a := range acc {
		VMOVUPS(a, Mem{Base: norm, Disp: i * l.size})
	}
	VZEROUPPER()
	RET()
}
