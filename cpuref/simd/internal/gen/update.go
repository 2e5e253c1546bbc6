package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// combine generates combineAVX2 and combineAVX512 for vectors of size bytes: two
// of them at a time, since a sum over the labels is a chain.
func combine(level string, size int) {
	vector := YMM
	if size == 64 {
		vector = ZMM
	}
	function("combine"+level, "func(z, g, b []float32, unit float32)")
	z, columns, g, b, labels := base("z"), length("z"), base("g"), base("b"), length("b")
	unit := vector()
	VBROADCASTSS(address(Param("unit")), unit)
	Label("columns")
	TESTQ(columns, columns)
	JE(LabelRef("done"))
	acc := [2]VecVirtual{vector(), vector()}
	for _, a := range acc {
		if size == 64 {
			VPXORD(a, a, a)
		} else {
			VXORPS(a, a, a)
		}
	}
	row, weight, left := GP64(), GP64(), GP64()
	MOVQ(g, row)
	MOVQ(b, weight)
	MOVQ(labels, left)
	Label("label")
	w := vector()
	VBROADCASTSS(Mem{Base: weight}, w)
	for i, a := range acc {
		VFMADD231PS(Mem{Base: row, Disp: size * i}, w, a)
	}
	ADDQ(U32(4*chunk), row)
	ADDQ(Imm(4), weight)
	DECQ(left)
	JNE(LabelRef("label"))
	for i, a := range acc {
		VMULPS(unit, a, a)
		VMOVUPS(a, Mem{Base: z, Disp: size * i})
	}
	ADDQ(U32(uint32(2*size)), g)
	ADDQ(U32(uint32(2*size)), z)
	SUBQ(Imm(uint64(size/2)), columns)
	JMP(LabelRef("columns"))
	end()
}

// norms generates a kernel whose lanes are 16 classes: columns one after the
// other, as clause 1 wants, but the z of four of them are computed together.
// fma adds the product of a row of bt and the number at g to z; parts is the
// number of vectors that 16 lanes take.
func norms(
	name string, vector func() VecVirtual, clear func(v VecVirtual),
	fma func(row []VecVirtual, g Mem, z []VecVirtual),
) {
	function(name, "func(g []float32, columns int, bt []float32, unit float32, norm []float32)")
	g, columns, bt, labels := base("g"), value("columns"), base("bt"), length("bt")
	SHRQ(Imm(4), labels)
	unit := vector()
	VBROADCASTSS(address(Param("unit")), unit)
	parts := 4 * lanes / int(unit.Size())
	vectors := func() []VecVirtual {
		v := make([]VecVirtual, parts)
		for i := range v {
			v[i] = vector()
		}
		return v
	}
	acc := vectors()
	for _, a := range acc {
		clear(a)
	}
	for _, unroll := range []int{4, 1} {
		suffix := map[int]string{4: "Of4", 1: "Of1"}[unroll]
		Label("columns" + suffix)
		CMPQ(columns, Imm(uint64(unroll)))
		JLT(LabelRef("rest" + suffix))
		z := make([][]VecVirtual, unroll)
		for i := range z {
			z[i] = vectors()
			for _, v := range z[i] {
				clear(v)
			}
		}
		weights, number, left := GP64(), GP64(), GP64()
		MOVQ(bt, weights)
		MOVQ(g, number)
		MOVQ(labels, left)
		Label("label" + suffix)
		row := vectors()
		for i, v := range row {
			VMOVUPS(Mem{Base: weights, Disp: i * int(v.Size())}, v)
		}
		for i := range z {
			fma(row, Mem{Base: number, Disp: 4 * i}, z[i])
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
		VMOVUPS(a, Mem{Base: norm, Disp: i * int(a.Size())})
	}
	VZEROUPPER()
	RET()
}

func norms512() {
	norms("normsAVX512", ZMM, func(v VecVirtual) { VPXORD(v, v, v) }, func(row []VecVirtual, g Mem, z []VecVirtual) {
		VFMADD231PS_BCST(g, row[0], z[0])
	})
}

func normsAVX2() {
	norms("normsAVX2", YMM, func(v VecVirtual) { VXORPS(v, v, v) }, func(row []VecVirtual, g Mem, z []VecVirtual) {
		number := YMM()
		VBROADCASTSS(g, number)
		for i := range z {
			VFMADD231PS(row[i], number, z[i])
		}
	})
}
