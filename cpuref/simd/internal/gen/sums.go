package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// accumulate generates the kernels that subtract integers from a sum, or add them to one.
func accumulate(name, minus, plus string) {
	const rest = "[]float32, scale float32, next []float32)"
	sums512(name+"AVX512", "func(sum []int64, x "+rest, minus, plus)
	scalarSums(name+"AVX2", "func(sum []int64, x "+rest, minus, plus, "x")
	scalarSums(name+"SparseAVX2", "func(sum []int64, columns []int32, values []float32, scale float32)", minus, plus,
		"values")
}

// transfer generates the kernels by which the integers of x leave one sum for another.
func transfer() {
	const signature = "func(from, to []int64, x []float32, scale float32, next []float32)"
	sums512("transferAVX512", signature, "from", "to")
	scalarSums("transferAVX2", signature, "from", "to", "x")
}

// sums512 generates a kernel that takes integers from the sum minus to the sum plus, either of
// which may be "". The conversion to integers rounds by the mode of the processor, which Go leaves
// at nearest, ties to even.
func sums512(name, signature, minus, plus string) {
	function(name, signature)
	var from, to GPVirtual
	steps := []step{}
	if minus != "" {
		from = base(minus)
		steps = append(steps, step{from, 8})
	}
	if plus != "" {
		to = base(plus)
		steps = append(steps, step{to, 8})
	}
	x, n, next := base("x"), length("x"), base("next")
	scale := broadcast("scale", YMM())
	v, integers, less, more := YMM(), ZMM(), ZMM(), ZMM()
	load := func(sum GPVirtual, some Op, v VecVirtual) {
		if some == nil {
			VMOVDQU64(Mem{Base: sum}, v)
		} else {
			VMOVDQU64_Z(Mem{Base: sum}, some, v)
		}
	}
	store := func(v VecVirtual, some Op, sum GPVirtual) {
		if some == nil {
			VMOVDQU64(v, Mem{Base: sum})
		} else {
			VMOVDQU64(v, some, Mem{Base: sum})
		}
	}
	eights(n, func(some Op) {
		if some == nil {
			PREFETCHT0(Mem{Base: next})
			VMULPS(Mem{Base: x}, scale, v)
		} else {
			VMOVUPS_Z(Mem{Base: x}, some, v)
			VMULPS(v, scale, v)
		}
		VCVTPS2QQ(v, integers)
		if minus != "" {
			load(from, some, less)
			VPSUBQ(integers, less, less)
		}
		switch {
		case plus == "":
		case minus == "":
			load(to, some, more)
			VPADDQ(integers, more, more)
		case some == nil:
			VPADDQ(Mem{Base: to}, integers, more)
		default:
			load(to, some, more)
			VPADDQ(more, integers, more)
		}
		if minus != "" {
			store(less, some, from)
		}
		if plus != "" {
			store(more, some, to)
		}
	}, append([]step{{x, 4}, {next, 4}}, steps...)...)
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

// scalarSums is sums512 without vectors, since AVX2 has no vector conversion to int64, or for
// sparse values, since each has a sum of its own.
func scalarSums(name, signature, minus, plus, values string) {
	function(name, signature)
	var sums []GPVirtual
	steps := []step{}
	for _, sum := range []string{minus, plus} {
		if sum != "" {
			p := base(sum)
			sums, steps = append(sums, p), append(steps, step{p, 8})
		}
	}
	sparse := values != "x"
	var columns, next GPVirtual
	if sparse {
		columns = base("columns")
	}
	x, n := base(values), length(values)
	if sparse {
		steps = []step{{columns, 4}, {x, 4}}
	} else {
		next = base("next")
		steps = append([]step{{x, 4}, {next, 4}}, steps...)
	}
	scale := XMM()
	VMOVSS(address(Param("scale")), scale)
	scalar(n, func(i int) {
		v, integer, j := XMM(), GP64(), GP64()
		if i == 0 && !sparse {
			PREFETCHT0(Mem{Base: next})
		}
		VMULSS(Mem{Base: x, Disp: 4 * i}, scale, v)
		VCVTSS2SIQ(v, integer)
		if sparse {
			MOVLQSX(Mem{Base: columns, Disp: 4 * i}, j)
		}
		for k, sum := range sums {
			at := Mem{Base: sum, Disp: 8 * i}
			if sparse {
				at = Mem{Base: sum, Index: j, Scale: 8}
			}
			if k == 0 && minus != "" {
				SUBQ(integer, at)
			} else {
				ADDQ(integer, at)
			}
		}
	}, steps...)
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
