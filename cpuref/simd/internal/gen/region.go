package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// region generates the frame of a kernel of clause 4: blocks, and the classes of
// each. half is called for each part of a block that fills a vector, with the
// byte at which it begins, and returns the examples whose place is another.
func region(
	name string, lanesOfVector int,
	half func(scores GPVirtual, classes GPVirtual, alpha, infinity Register, before, now Mem) GPVirtual,
) {
	function(name, "func(scores []float32, q int, alpha float32, before, now []int32, changed []uint16)")
	scores, q, before, now := base("scores"), value("q"), base("before"), base("now")
	changed, blocks := base("changed"), length("changed")
	var alpha, infinity VecVirtual = YMM(), YMM()
	if lanesOfVector == 16 {
		alpha, infinity = ZMM(), ZMM()
	}
	VBROADCASTSS(address(Param("alpha")), alpha)
	bits := GP32()
	MOVL(U32(0xff800000), bits)
	VMOVD(bits, infinity.AsX())
	VBROADCASTSS(infinity.AsX(), infinity)
	size := 4 * lanesOfVector

	Label("block")
	TESTQ(blocks, blocks)
	JE(LabelRef("done"))
	all := GP64()
	for at := 0; at < 4*lanes; at += size {
		s := GP64()
		LEAQ(Mem{Base: scores, Disp: at}, s)
		mask := half(s, q, alpha, infinity, Mem{Base: before, Disp: at}, Mem{Base: now, Disp: at})
		if at == 0 {
			MOVQ(mask, all)
		} else {
			SHLQ(Imm(uint64(at/4)), mask)
			ORQ(mask, all)
		}
	}
	MOVW(all.As16(), Mem{Base: changed})
	line := GP64()
	MOVQ(q, line)
	SHLQ(Imm(6), line)
	ADDQ(line, scores)
	ADDQ(Imm(4*lanes), before)
	ADDQ(Imm(4*lanes), now)
	ADDQ(Imm(2), changed)
	DECQ(blocks)
	JMP(LabelRef("block"))
	end()
}

func region512() {
	region("regionAVX512", 16, func(s, q GPVirtual, alpha, infinity Register, before, now Mem) GPVirtual {
		best, second, class, c, one := ZMM(), ZMM(), ZMM(), ZMM(), ZMM()
		VMOVAPS(infinity, best)
		VMOVAPS(infinity, second)
		VPXORD(class, class, class)
		VPXORD(c, c, c)
		VPTERNLOGD(Imm(0xff), one, one, one)
		left := GP64()
		MOVQ(q, left)
		Label("class")
		score, first, above := ZMM(), K(), K()
		VMOVUPS(Mem{Base: s}, score)
		VCMPPS(Imm(30), second, score, above) // score > second, false for NaN
		VCMPPS(Imm(30), best, score, first)
		VMOVAPS(score, above, second)
		VMOVAPS(best, first, second)
		VMOVAPS(score, first, best)
		VMOVDQA32(c, first, class)
		VPSUBD(one, c, c) // one is -1
		ADDQ(Imm(4*lanes), s)
		DECQ(left)
		JNE(LabelRef("class"))

		margin, inside, place, differs := ZMM(), K(), ZMM(), K()
		VSUBPS(second, best, margin)
		VCMPPS(Imm(29), alpha, margin, inside) // margin >= alpha, false for NaN
		VPADDD(class, class, place)
		VPSUBD(one, place, inside, place)
		VMOVDQU32(place, now)
		VPCMPD(Imm(4), before, place, differs)
		mask := GP64()
		KMOVW(differs, mask.As32())
		return mask.(GPVirtual)
	})
}

func regionAVX2() {
	part := 0
	region("regionAVX2", 8, func(s, q GPVirtual, alpha, infinity Register, before, now Mem) GPVirtual {
		label := []string{"low", "high"}[part]
		part++
		best, second, class, c, one := YMM(), YMM(), YMM(), YMM(), YMM()
		VMOVAPS(infinity, best)
		VMOVAPS(infinity, second)
		VPXOR(class, class, class)
		VPXOR(c, c, c)
		VPCMPEQD(one, one, one)
		left := GP64()
		MOVQ(q, left)
		Label(label)
		score, first, above := YMM(), YMM(), YMM()
		VMOVUPS(Mem{Base: s}, score)
		VCMPPS(Imm(30), second, score, above) // score > second, false for NaN
		VCMPPS(Imm(30), best, score, first)
		VBLENDVPS(above, score, second, second)
		VBLENDVPS(first, best, second, second)
		VBLENDVPS(first, score, best, best)
		VBLENDVPS(first, c, class, class)
		VPSUBD(one, c, c) // one is -1
		ADDQ(Imm(4*lanes), s)
		DECQ(left)
		JNE(LabelRef(label))

		margin, inside, place := YMM(), YMM(), YMM()
		VSUBPS(second, best, margin)
		VCMPPS(Imm(29), alpha, margin, inside) // margin >= alpha, false for NaN
		VPADDD(class, class, place)
		VPSUBD(inside, place, place) // -1 where inside
		VMOVDQU(place, now)
		VPCMPEQD(before, place, place)
		mask := GP64()
		VMOVMSKPS(place, mask.As32())
		XORQ(Imm(0xff), mask)
		return mask.(GPVirtual)
	})
}
