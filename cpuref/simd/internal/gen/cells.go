package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// region generates clause 4: the place of each example, and in changed the bits of those whose
// place was another before.
func region(l level) {
	function("region"+l.name, "func(scores []float32, q int, alpha float32, before, now []int32, changed []uint16)")
	scores, q, before, now := base("scores"), value("q"), base("before"), base("now")
	changed, blocks := base("changed"), length("changed")
	alpha, infinity := l.vector(), l.vector()
	broadcast("alpha", alpha)
	fill(minusInf, infinity)
	loop("block", blocks, 1, func() {
		all := l.inParts(func(at int) GPVirtual {
			s := GP64()
			LEAQ(Mem{Base: scores, Disp: at}, s)
			return l.places(at, s, q, alpha, infinity, Mem{Base: before, Disp: at}, Mem{Base: now, Disp: at})
		})
		MOVW(all.As16(), Mem{Base: changed})
		nextBlock(q, []GPVirtual{scores}, before, now)
		add(2, changed)
	})
}

// places generates the places of the examples of one vector, from byte at of a block, and returns
// which of them have changed.
func (l level) places(at int, s, q GPVirtual, alpha, infinity VecVirtual, before, now Mem) GPVirtual {
	long := l.size == 64
	label := map[int]string{0: "low", 32: "high"}[at]
	best, second, class, c, one := l.vector(), l.vector(), l.vector(), l.vector(), l.vector()
	VMOVAPS(infinity, best)
	VMOVAPS(infinity, second)
	if long {
		label = "class"
		VPXORD(class, class, class)
		VPXORD(c, c, c)
		VPTERNLOGD(Imm(0xff), one, one, one)
	} else {
		VPXOR(class, class, class)
		VPXOR(c, c, c)
		VPCMPEQD(one, one, one)
	}
	left := GP64()
	MOVQ(q, left)
	Label(label)
	score, first, above := l.vector(), l.mask(), l.mask()
	VMOVUPS(Mem{Base: s}, score)
	VCMPPS(Imm(30), second, score, above) // score > second, false for NaN
	VCMPPS(Imm(30), best, score, first)
	choose(above, score, second)
	choose(first, best, second)
	choose(first, score, best)
	if long {
		VMOVDQA32(c, first, class)
	} else {
		choose(first, c, class)
	}
	VPSUBD(one, c, c) // one is -1
	add(4*lanes, s)
	DECQ(left)
	JNE(LabelRef(label))

	margin, inside, place, mask := l.vector(), l.mask(), l.vector(), GP64()
	VSUBPS(second, best, margin)
	VCMPPS(Imm(29), alpha, margin, inside) // margin >= alpha, false for NaN
	VPADDD(class, class, place)
	if long {
		differs := K()
		VPSUBD(one, place, inside, place)
		VMOVDQU32(place, now)
		VPCMPD(Imm(4), before, place, differs)
		KMOVW(differs, mask.As32())
		return mask.(GPVirtual)
	}
	VPSUBD(inside, place, place) // -1 where inside
	VMOVDQU(place, now)
	VPCMPEQD(before, place, place)
	VMOVMSKPS(place, mask.As32())
	XORQ(Imm(0xff), mask)
	return mask.(GPVirtual)
}
