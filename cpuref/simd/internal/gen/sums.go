package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// accumulate512 generates addAVX512 and subAVX512. The conversion to integers
// rounds by the mode of the processor, which Go leaves at nearest, ties to even.
func accumulate512(sub bool) {
	name, combine := "addAVX512", VPADDQ
	if sub {
		name, combine = "subAVX512", VPSUBQ
	}
	function(name, "func(sum []int64, x []float32, scale float32, next []float32)")
	sum, x, n, next := base("sum"), base("x"), length("x"), base("next")
	scale := YMM()
	VBROADCASTSS(address(Param("scale")), scale)
	Label("loop")
	CMPQ(n, Imm(8))
	JLT(LabelRef("tail"))
	PREFETCHT0(Mem{Base: next})
	v, integers := YMM(), ZMM()
	VMULPS(Mem{Base: x}, scale, v)
	VCVTPS2QQ(v, integers)
	old := ZMM()
	VMOVDQU64(Mem{Base: sum}, old)
	combine(integers, old, old)
	VMOVDQU64(old, Mem{Base: sum})
	ADDQ(Imm(32), x)
	ADDQ(Imm(32), next)
	ADDQ(Imm(64), sum)
	SUBQ(Imm(8), n)
	JMP(LabelRef("loop"))

	Label("tail")
	TESTQ(n, n)
	JE(LabelRef("done"))
	some := tailMask(n)
	VMOVUPS_Z(Mem{Base: x}, some, v)
	VMULPS(v, scale, v)
	VCVTPS2QQ(v, integers)
	VMOVDQU64_Z(Mem{Base: sum}, some, old)
	combine(integers, old, old)
	VMOVDQU64(old, some, Mem{Base: sum})
	end()
}

// transfer512 generates transferAVX512: the integers of x leave one sum for another.
func transfer512() {
	function("transferAVX512", "func(from, to []int64, x []float32, scale float32, next []float32)")
	from, to, x, n, next := base("from"), base("to"), base("x"), length("x"), base("next")
	scale := YMM()
	VBROADCASTSS(address(Param("scale")), scale)
	Label("loop")
	CMPQ(n, Imm(8))
	JLT(LabelRef("tail"))
	PREFETCHT0(Mem{Base: next})
	v, integers, less, more := YMM(), ZMM(), ZMM(), ZMM()
	VMULPS(Mem{Base: x}, scale, v)
	VCVTPS2QQ(v, integers)
	VMOVDQU64(Mem{Base: from}, less)
	VPSUBQ(integers, less, less)
	VPADDQ(Mem{Base: to}, integers, more)
	VMOVDQU64(less, Mem{Base: from})
	VMOVDQU64(more, Mem{Base: to})
	ADDQ(Imm(32), x)
	ADDQ(Imm(32), next)
	ADDQ(Imm(64), from)
	ADDQ(Imm(64), to)
	SUBQ(Imm(8), n)
	JMP(LabelRef("loop"))

	Label("tail")
	TESTQ(n, n)
	JE(LabelRef("done"))
	some := tailMask(n)
	VMOVUPS_Z(Mem{Base: x}, some, v)
	VMULPS(v, scale, v)
	VCVTPS2QQ(v, integers)
	VMOVDQU64_Z(Mem{Base: from}, some, less)
	VPSUBQ(integers, less, less)
	VMOVDQU64_Z(Mem{Base: to}, some, more)
	VPADDQ(more, integers, more)
	VMOVDQU64(less, some, Mem{Base: from})
	VMOVDQU64(more, some, Mem{Base: to})
	end()
}

// transferAVX2 is transfer512 without vectors, as accumulateAVX2.
func transferAVX2() {
	function("transferAVX2", "func(from, to []int64, x []float32, scale float32, next []float32)")
	from, to, x, n, next := base("from"), base("to"), base("x"), length("x"), base("next")
	scale := XMM()
	VMOVSS(address(Param("scale")), scale)
	one := func(i int) {
		v, integer := XMM(), GP64()
		if i == 0 {
			PREFETCHT0(Mem{Base: next})
		}
		VMULSS(Mem{Base: x, Disp: 4 * i}, scale, v)
		VCVTSS2SIQ(v, integer)
		SUBQ(integer, Mem{Base: from, Disp: 8 * i})
		ADDQ(integer, Mem{Base: to, Disp: 8 * i})
	}
	scalar(n, one, step{x, 4}, step{next, 4}, step{from, 8}, step{to, 8})
	RET()
}

// tailMask returns the mask of the first n lanes, n < 16. Lanes that are masked
// off are neither read nor written.
func tailMask(n GPVirtual) OpmaskVirtual {
	bits, some := GP32(), K()
	MOVL(U32(1), bits)
	SHLXL(n.As32(), bits, bits)
	DECL(bits)
	KMOVW(bits, some)
	return some
}

// accumulateAVX2 generates addAVX2 and subAVX2: AVX2 has no vector conversion to
// int64.
func accumulateAVX2(sub bool) {
	name, combine := "addAVX2", func(r, m Op) { ADDQ(r, m) }
	if sub {
		name, combine = "subAVX2", func(r, m Op) { SUBQ(r, m) }
	}
	function(name, "func(sum []int64, x []float32, scale float32, next []float32)")
	sum, x, n, next := base("sum"), base("x"), length("x"), base("next")
	scale := XMM()
	VMOVSS(address(Param("scale")), scale)
	one := func(i int) {
		v, integer := XMM(), GP64()
		if i == 0 {
			PREFETCHT0(Mem{Base: next})
		}
		VMULSS(Mem{Base: x, Disp: 4 * i}, scale, v)
		VCVTSS2SIQ(v, integer)
		combine(integer, Mem{Base: sum, Disp: 8 * i})
	}
	scalar(n, one, step{x, 4}, step{next, 4}, step{sum, 8})
	RET()
}

// accumulateSparse generates addSparseAVX2 and subSparseAVX2. Columns differ, so
// each value has a sum of its own.
func accumulateSparse(sub bool) {
	name, combine := "addSparseAVX2", func(r, m Op) { ADDQ(r, m) }
	if sub {
		name, combine = "subSparseAVX2", func(r, m Op) { SUBQ(r, m) }
	}
	function(name, "func(sum []int64, columns []int32, values []float32, scale float32)")
	sum, columns, values, n := base("sum"), base("columns"), base("values"), length("values")
	scale := XMM()
	VMOVSS(address(Param("scale")), scale)
	scalar(n, func(i int) {
		v, integer, j := XMM(), GP64(), GP64()
		VMULSS(Mem{Base: values, Disp: 4 * i}, scale, v)
		VCVTSS2SIQ(v, integer)
		MOVLQSX(Mem{Base: columns, Disp: 4 * i}, j)
		combine(integer, Mem{Base: sum, Index: j, Scale: 8})
	}, step{columns, 4}, step{values, 4})
	RET()
}

// step says by how many bytes a pointer goes forward for one value.
type step struct {
	pointer GPVirtual
	size    int
}

// scalar generates a loop over n values, four at a time.
func scalar(n GPVirtual, one func(i int), steps ...step) {
	for _, unroll := range []int{4, 1} {
		loop, done := map[int]string{4: "four", 1: "one"}[unroll], map[int]string{4: "few", 1: "done"}[unroll]
		Label(loop)
		CMPQ(n, Imm(uint64(unroll)))
		JLT(LabelRef(done))
		for i := range unroll {
			one(i)
		}
		for _, s := range steps {
			ADDQ(Imm(uint64(unroll*s.size)), s.pointer)
		}
		SUBQ(Imm(uint64(unroll)), n)
		JMP(LabelRef(loop))
		Label(done)
	}
}

// toFloat512 generates toFloatAVX512; it rounds by the mode of the processor.
func toFloat512() {
	function("toFloatAVX512", "func(dst []float32, src []int64)")
	dst, src, n := base("dst"), base("src"), length("src")
	Label("loop")
	CMPQ(n, Imm(8))
	JLT(LabelRef("tail"))
	v := YMM()
	VCVTQQ2PS(Mem{Base: src}, v)
	VMOVUPS(v, Mem{Base: dst})
	ADDQ(Imm(64), src)
	ADDQ(Imm(32), dst)
	SUBQ(Imm(8), n)
	JMP(LabelRef("loop"))
	Label("tail")
	TESTQ(n, n)
	JE(LabelRef("done"))
	some, integers := tailMask(n), ZMM()
	VMOVDQU64_Z(Mem{Base: src}, some, integers)
	VCVTQQ2PS(integers, v)
	VMOVUPS(v, some, Mem{Base: dst})
	end()
}

func toFloatAVX2() {
	function("toFloatAVX2", "func(dst []float32, src []int64)")
	dst, src, n := base("dst"), base("src"), length("src")
	scalar(n, func(i int) {
		v := XMM()
		VXORPS(v, v, v) // the conversion keeps the upper bits, which would make it wait for them
		VCVTSI2SSQ(Mem{Base: src, Disp: 8 * i}, v, v)
		VMOVSS(v, Mem{Base: dst, Disp: 4 * i})
	}, step{src, 8}, step{dst, 4})
	RET()
}
