package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const (
	productRows    = 12 // rows of a block of product
	productColumns = 32 // columns of a panel
)

// product generates a kernel that computes atOnce rows and two vectors of columns at a
// time: as many sums as there are registers for, so that each value loaded is used often.
func product(level string, vector func() VecVirtual, atOnce int) {
	function("product"+level, "func(x []float32, stride, blocks, columns int, w, totals []float32, "+
		"step int, first bool)")
	x, s, totals, step := base("x"), value("stride"), base("totals"), value("step")
	SHLQ(Imm(2), s)
	SHLQ(Imm(2), step)
	s3, s5 := GP64(), GP64()
	LEAQ(Mem{Base: s, Index: s, Scale: 2}, s3)
	LEAQ(Mem{Base: s, Index: s, Scale: 4}, s5)
	blocks := address(Param("blocks"))
	acc := make([][2]VecVirtual, atOnce)
	for i := range acc {
		acc[i] = [2]VecVirtual{vector(), vector()}
	}
	size := int(acc[0][0].Size())
	var from [productRows / 6]GPVirtual // rows 0 and 6 of those computed at once
	for i := range atOnce / 6 {
		from[i] = GP64()
	}
	at := func(row int) Mem {
		m := Mem{Base: from[row/6]}
		switch row % 6 {
		case 1:
			return m.Idx(s, 1)
		case 2:
			return m.Idx(s, 2)
		case 3:
			return m.Idx(s3, 1)
		case 4:
			return m.Idx(s, 4)
		case 5:
			return m.Idx(s5, 1)
		}
		return m
	}
	w, left, t := GP64(), GP64(), GP64()

	Label("block")
	CMPQ(blocks, Imm(0))
	JE(LabelRef("done"))
	for part := range productRows / atOnce {
		for half := 0; half < 4*productColumns; half += 2 * size {
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
			b := [2]VecVirtual{vector(), vector()}
			for i, v := range b {
				VMOVUPS(Mem{Base: w, Disp: i * size}, v)
			}
			for i := range acc {
				v := vector()
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
						do(Mem{Base: t, Disp: k * size}, a)
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
			zero := vector()
			clearVector(zero)
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
		if back := 4*productColumns - 2*size; back > 0 {
			SUBQ(Imm(uint64(back)), totals)
		}
		if atOnce > 6 {
			LEAQ(Mem{Base: x, Index: s3, Scale: 2}, x)
		}
	}
	DECQ(blocks)
	JMP(LabelRef("block"))
	end()
}

// clearVector sets v to +0.
func clearVector(v VecVirtual) {
	if v.Size() == 64 {
		VPXORD(v, v, v)
	} else {
		VXORPS(v, v, v)
	}
}
