package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// constants are those of clause 11, and -2, each as often as the widest vector has lanes.
var constants = []named{
	{"log2e", F32(0x1.715476p0)}, {"round", F32(0x1.8p23)}, {"upper", F32(0x1.62e4p-1)}, {"lower", F32(0x1.7f7d1cp-20)},
	{"p6", F32(0x1.6a23dp-10)}, {"p5", F32(0x1.123a2p-7)}, {"p4", F32(0x1.5558f2p-5)}, {"p3", F32(0x1.555492p-3)},
	{"p2", F32(0x1.fffffcp-2)},
	{"one", F32(1)}, {"least", F32(-0x1.5d589ep6)}, {"minus2", F32(-2)},
}

type named struct {
	name  string
	value Constant
}

var table Mem

// kernelConstants generates the table of constants, with more if there are some.
func kernelConstants(more ...named) {
	constants = append(constants, more...)
	table = GLOBL("kernelConstants", RODATA|NOPTR)
	for i, c := range constants {
		for lane := range 16 {
			DATA(64*i+4*lane, c.value)
		}
	}
}

func constant(name string) Mem {
	for i, c := range constants {
		if c.name == name {
			return table.Offset(64 * i)
		}
	}
	panic(name)
}

// rbf generates a kernel of clause 13 and, inlined, of clause 11 for arguments ≤ 0.
func rbf(level string, vector func() VecVirtual) {
	function("rbf"+level, "func(values []float32, xx, gamma float32, yy []float32)")
	values, n, yy := base("values"), length("values"), base("yy")
	xx, gamma, zero := vector(), vector(), vector()
	VBROADCASTSS(address(Param("xx")), xx)
	VBROADCASTSS(address(Param("gamma")), gamma)
	clearVector(zero)
	VSUBPS(gamma, zero, gamma)
	size := int(xx.Size())

	Label("loop")
	TESTQ(n, n)
	JE(LabelRef("done"))
	a, t := vector(), vector()
	VADDPS(Mem{Base: yy}, xx, a)
	VMOVUPS(Mem{Base: values}, t)
	VFMADD231PS(constant("minus2"), t, a)
	comment("The second of two is taken where one is NaN.")
	VMAXPS(a, zero, a)
	VMULPS(gamma, a, a)

	p := normalExp(a, vector)
	comment("Below the least argument 0, or NaN, which the comparison calls false.")
	if size == 64 {
		valid := K()
		VCMPPS(Imm(29), constant("least"), a, valid)
		VMAXPS(a, zero, a)
		VMOVAPS(p, valid, a)
	} else {
		valid := vector()
		VCMPPS(Imm(29), constant("least"), a, valid)
		VMAXPS(a, zero, a)
		VBLENDVPS(valid, p, a, a)
	}
	VMOVUPS(a, Mem{Base: values})
	ADDQ(Imm(uint64(size)), values)
	ADDQ(Imm(uint64(size)), yy)
	SUBQ(Imm(uint64(size/4)), n)
	JMP(LabelRef("loop"))
	end()
}

// normalExp generates clause 11 for arguments ≤ 0 whose exponential is not 0.
func normalExp(x VecVirtual, vector func() VecVirtual) VecVirtual {
	t, k, r, p := vector(), vector(), vector(), vector()
	VMOVUPS(constant("round"), t)
	VFMADD231PS(constant("log2e"), x, t)
	VSUBPS(constant("round"), t, k)
	VMOVAPS(x, r)
	VFNMADD231PS(constant("upper"), k, r)
	VFNMADD231PS(constant("lower"), k, r)
	VMOVUPS(constant("p6"), p)
	for _, c := range []string{"p5", "p4", "p3", "p2", "one", "one"} {
		VFMADD213PS(constant(c), r, p)
	}
	VPSLLD(Imm(23), t, t)
	VPADDD(t, p, p)
	return p
}

// poly generates a kernel of clause 13.
func poly(level string, vector func() VecVirtual) {
	function("poly"+level, "func(values []float32, gamma, coef0 float32, degree int)")
	values, n, degree := base("values"), length("values"), value("degree")
	gamma, coef0 := vector(), vector()
	VBROADCASTSS(address(Param("gamma")), gamma)
	VBROADCASTSS(address(Param("coef0")), coef0)
	size := int(gamma.Size())
	Label("loop")
	TESTQ(n, n)
	JE(LabelRef("done"))
	b, v, left := vector(), vector(), GP64()
	VMOVAPS(coef0, b)
	VFMADD231PS(Mem{Base: values}, gamma, b)
	VMOVAPS(b, v)
	MOVQ(degree, left)
	Label("power")
	DECQ(left)
	JE(LabelRef("store"))
	VMULPS(b, v, v)
	JMP(LabelRef("power"))
	Label("store")
	VMOVUPS(v, Mem{Base: values})
	ADDQ(Imm(uint64(size)), values)
	SUBQ(Imm(uint64(size/4)), n)
	JMP(LabelRef("loop"))
	end()
}
