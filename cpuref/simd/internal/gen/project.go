package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// constants are the ones that clauses 11, 15 and 16 name, and -2.
var constants = []named{
	{"log2e", F32(0x1.715476p0)}, {"round", F32(0x1.8p23)}, {"upper", F32(0x1.62e4p-1)}, {"lower", F32(0x1.7f7d1cp-20)},
	{"p6", F32(0x1.6a23dp-10)}, {"p5", F32(0x1.123a2p-7)}, {"p4", F32(0x1.5558f2p-5)}, {"p3", F32(0x1.555492p-3)},
	{"p2", F32(0x1.fffffcp-2)},
	{"one", F32(1)}, {"least", F32(-0x1.5d589ep6)}, {"minus2", F32(-2)},
	{"root", U32(0x3f3504f3)}, {"fraction", U32(1<<23 - 1)},
	{"l8", F32(-0x1.38c08ep-4)}, {"l7", F32(0x1.055ba6p-3)}, {"l6", F32(-0x1.0d8304p-3)}, {"l5", F32(0x1.22d9e4p-3)},
	{"l4", F32(-0x1.547282p-3)}, {"l3", F32(0x1.99a00ep-3)}, {"l2", F32(-0x1.000226p-2)}, {"l1", F32(0x1.555554p-2)},
	{"l0", F32(-0.5)},
	{"reciprocal", U32(0x7ef311c7)}, {"size", U32(1<<31 - 1)}, {"most", F32(0x1.fffffep14)},
}

type named struct {
	name  string
	value Constant
}

// Linkers align a table to 32 bytes, and a constant in two cache lines is read slowly. So each is
// there as often as two of the widest vectors have lanes.
const constantSize = 2 * 64

var (
	table       Mem
	constantsAt GPVirtual // the first address of a cache line in the table
)

// kernelConstants generates the table of constants.
func kernelConstants() {
	table = GLOBL("kernelConstants", RODATA|NOPTR)
	for i, c := range constants {
		for at := 0; at < constantSize; at += 4 {
			DATA(constantSize*i+at, c.value)
		}
	}
}

// findConstants generates what a function with constants begins with.
func findConstants() {
	constantsAt = GP64()
	LEAQ(table.Offset(63), constantsAt)
	ANDQ(I32(-64), constantsAt)
}

func constant(name string) Mem {
	for i, c := range constants {
		if c.name == name {
			return Mem{Base: constantsAt, Disp: constantSize * i}
		}
	}
	panic(name)
}

// rbf generates a kernel of clause 13 and, inlined, of clause 11 for arguments ≤ 0.
func rbf(l level) {
	function("rbf"+l.name, "func(values []float32, xx, gamma float32, yy []float32)")
	findConstants()
	values, n, yy := base("values"), length("values"), base("yy")
	xx, gamma := broadcast("xx", l.vector()), broadcast("gamma", l.vector())
	zero := l.zeros(1)[0]
	VSUBPS(gamma, zero, gamma)
	loop("loop", n, l.size/4, func() {
		a, t := l.vector(), l.vector()
		VADDPS(Mem{Base: yy}, xx, a)
		VMOVUPS(Mem{Base: values}, t)
		VFMADD231PS(constant("minus2"), t, a)
		comment("The second of two is taken where one is NaN.")
		VMAXPS(a, zero, a)
		VMULPS(gamma, a, a)

		p := l.normalExp(a)
		comment("Below the least argument 0, or NaN, which the comparison calls false.")
		valid := l.mask()
		VCMPPS(Imm(29), constant("least"), a, valid)
		VMAXPS(a, zero, a)
		choose(valid, p, a)
		VMOVUPS(a, Mem{Base: values})
		add(l.size, values, yy)
	})
}

// normalExp generates clause 11 for arguments ≤ 0 whose exponential is not 0.
func (l level) normalExp(x VecVirtual) VecVirtual {
	t, k, r, p := l.vector(), l.vector(), l.vector(), l.vector()
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

const (
	productRows    = 12 // rows of a block of product
	productColumns = 32 // columns of a panel
)

// product generates a kernel that computes atOnce rows and two vectors of columns at a
// time: as many sums as there are registers for, so that each value loaded is used often.
func product(l level, atOnce int) {
	function("product"+l.name, "func(x []float32, stride, blocks, columns int, w, totals []float32, "+
		"step int, first bool)")
	x, s, totals, step := base("x"), value("stride"), base("totals"), value("step")
	SHLQ(Imm(2), s)
	SHLQ(Imm(2), step)
	s3, s5 := GP64(), GP64()
	LEAQ(Mem{Base: s, Index: s, Scale: 2}, s3)
	LEAQ(Mem{Base: s, Index: s, Scale: 4}, s5)
	blocks := address(Param("blocks"))
	acc := make([][]VecVirtual, atOnce)
	for i := range acc {
		acc[i] = l.vectors(2)
	}
	var from [productRows / 6]GPVirtual // rows 0 and 6 of those computed at once
	for i := range atOnce / 6 {
		from[i] = GP64()
	}
	at := func(row int) Mem {
		m := Mem{Base: from[row/6]}
		if row%6 == 0 {
			return m
		}
		by := []struct {
			stride GPVirtual
			times  uint8
		}{{s, 1}, {s, 2}, {s3, 1}, {s, 4}, {s5, 1}}[row%6-1]
		return m.Idx(by.stride, by.times)
	}
	w, left, t := GP64(), GP64(), GP64()

	Label("block")
	CMPQ(blocks, Imm(0))
	JE(LabelRef("done"))
	for part := range productRows / atOnce {
		for half := 0; half < 4*productColumns; half += 2 * l.size {
			suffix := string(rune('A'+part)) + string(rune('A'+half/64))
			for i := range acc {
				for _, a := range acc[i] {
					clearVector(a)
				}
			}
			MOVQ(x, from[0])
			if atOnce > 6 {
				LEAQ(Mem{Base: x, Index: s3, Scale: 2}, from[1])
			}
			Load(Param("w").Base(), w)
			if half > 0 {
				ADDQ(Imm(uint64(half)), w)
			}
			Load(Param("columns"), left)
			Label("column" + suffix)
			b := l.vectors(2)
			for i, v := range b {
				VMOVUPS(Mem{Base: w, Disp: i * l.size}, v)
			}
			for i := range acc {
				v := l.vector()
				VBROADCASTSS(at(i), v)
				VFMADD231PS(b[0], v, acc[i][0])
				VFMADD231PS(b[1], v, acc[i][1])
			}
			for i := range atOnce / 6 {
				ADDQ(Imm(4), from[i])
			}
			ADDQ(U32(4*productColumns), w)
			DECQ(left)
			JNE(LabelRef("column" + suffix))

			place := func(do func(m Mem, a VecVirtual)) {
				LEAQ(Mem{Base: totals, Disp: half}, t)
				for i := range acc {
					for k, a := range acc[i] {
						do(Mem{Base: t, Disp: k * l.size}, a)
					}
					if i < atOnce-1 {
						ADDQ(step, t)
					}
				}
			}
			CMPB(address(Param("first")), Imm(0))
			JNE(LabelRef("first" + suffix))
			place(func(m Mem, a VecVirtual) { VADDPS(m, a, a) })
			JMP(LabelRef("store" + suffix))
			Label("first" + suffix)
			zero := l.zeros(1)[0]
			for i := range acc {
				for _, a := range acc[i] {
					VADDPS(zero, a, a)
				}
			}
			Label("store" + suffix)
			place(func(m Mem, a VecVirtual) { VMOVUPS(a, m) })
		}
		LEAQ(Mem{Base: x, Index: s3, Scale: 2}, x)
		ADDQ(step, t)
		MOVQ(t, totals)
		// t stood in the second half of its row.
		if back := 4*productColumns - 2*l.size; back > 0 {
			SUBQ(Imm(uint64(back)), totals)
		}
		if atOnce > 6 {
			LEAQ(Mem{Base: x, Index: s3, Scale: 2}, x)
		}
	}
	DECQ(blocks)
	JMP(LabelRef("block"))
	finish()
}
