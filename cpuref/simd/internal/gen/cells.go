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

// estimate generates the estimates of bounds. Even and odd directions have
// sums of their own, since a sum is a chain of fma.
func estimate(l level) {
	function("estimate"+l.name, "func(sketch []int8, depth int, coef []float32, lines []int, "+
		"scores []float32, step int)")
	sketch, size, coef, scores := base("sketch"), length("sketch"), base("coef"), base("scores")
	depth := value("depth")
	parts := 4 * lanes / l.size
	left, t := GP64(), GP64()
	var line [2]GPVirtual
	Load(Param("lines").Base(), t)
	for c := range line {
		line[c] = GP64()
		MOVQ(Mem{Base: t, Disp: 8 * c}, line[c])
	}

	Label("block")
	TESTQ(size, size)
	JE(LabelRef("done"))
	var acc [2][2][]VecVirtual // [parity of the direction][class][part]
	for i := range acc {
		for c := range acc[i] {
			acc[i][c] = l.zeros(parts)
		}
	}
	MOVQ(coef, t)
	MOVQ(depth, left)
	Label("directions")
	for i := range acc {
		for part := range parts {
			s := l.vector()
			VPMOVSXBD(Mem{Base: sketch, Disp: lanes*i + lanes/parts*part}, s)
			VCVTDQ2PS(s, s)
			for c := range acc[i] {
				l.broadcastFMA(Mem{Base: t, Disp: 8*i + 4*c}, s, acc[i][c][part])
			}
		}
	}
	ADDQ(Imm(2*lanes), sketch)
	ADDQ(Imm(16), t)
	SUBQ(Imm(2), left)
	JNE(LabelRef("directions"))

	comment("Both classes are read before one is stored, because they may be the same.")
	for c := range line {
		for part, v := range acc[0][c] {
			VADDPS(acc[1][c][part], v, v)
			VADDPS(Mem{Base: scores, Index: line[c], Scale: 4, Disp: l.size * part}, v, v)
		}
	}
	for c := range line {
		for part, v := range acc[0][c] {
			VMOVUPS(v, Mem{Base: scores, Index: line[c], Scale: 4, Disp: l.size * part})
		}
	}
	Load(Param("step"), t)
	LEAQ(Mem{Base: scores, Index: t, Scale: 4}, scores)
	MOVQ(depth, t)
	SHLQ(Imm(4), t)
	SUBQ(t, size)
	JMP(LabelRef("block"))
	finish()
}

// bound generates the frame of a kernel that finds the examples whose place is open.
// half is as in region, with the rest of the parameters.
func (l level) bound(half func(p *bounded, at int) GPVirtual) {
	function("bound"+l.name, "func(scores []float32, q int, alpha float32, rho, nu, slack, eta, theta []float32, "+
		"scored []int32, now int32, place []int32, open []uint16)")
	p := &bounded{scores: base("scores"), q: value("q"), rho: base("rho"), nu: base("nu"), scored: base("scored"),
		place: base("place")}
	open, blocks := base("open"), length("open")
	p.infinity, p.one = l.vector(), l.vector()
	fill(minusInf, p.infinity)
	bits := GP32()
	MOVL(U32(1), bits)
	VMOVD(bits, p.one.AsX())
	VPBROADCASTD(p.one.AsX(), p.one)
	loop("block", blocks, 1, func() {
		all := l.inParts(func(at int) GPVirtual { return half(p, at) })
		MOVW(all.As16(), Mem{Base: open})
		nextBlock(p.q, []GPVirtual{p.scores}, p.rho, p.nu, p.scored, p.place)
		add(2, open)
	})
}

// bounded is what the two kernels of bound share.
type bounded struct {
	scores, q, rho, nu, scored, place GPVirtual
	infinity, one                     VecVirtual
}

// best returns bounds of scores that are -Inf.
func (p *bounded) best(l level) (low, high, rivalLow, rivalHigh VecVirtual) {
	all := l.vectors(4)
	for _, v := range all {
		VMOVAPS(p.infinity, v)
	}
	return all[0], all[1], all[2], all[3]
}

// classes generates the loop over the classes of some lanes, whose scores begin at
// byte at of a block's: one gets what belongs to one class.
func (p *bounded) classes(label string, at int, one func(score, slack, eta, theta GPVirtual)) {
	score, slack, eta, theta, left := GP64(), GP64(), GP64(), GP64(), GP64()
	LEAQ(Mem{Base: p.scores, Disp: at}, score)
	Load(Param("slack").Base(), slack)
	Load(Param("eta").Base(), eta)
	Load(Param("theta").Base(), theta)
	MOVQ(p.q, left)
	Label(label)
	one(score, slack, eta, theta)
	add(4*lanes, score)
	add(4, slack, eta, theta)
	DECQ(left)
	JNE(LabelRef(label))
}

func bound512() {
	avx512.bound(func(p *bounded, at int) GPVirtual {
		low, high, rivalLow, rivalHigh := p.best(avx512)
		scored, rho, nu, class, c, bad := ZMM(), ZMM(), ZMM(), ZMM(), ZMM(), K()
		VMOVDQU32(Mem{Base: p.scored}, scored)
		now, nows := Load(Param("now"), GP32()), ZMM()
		VPBROADCASTD(now, nows)
		VPCMPEQD(nows, scored, bad)
		VMOVUPS(Mem{Base: p.rho}, rho)
		VMOVUPS(Mem{Base: p.nu}, nu)
		VPSRAD(Imm(1), Mem{Base: p.place}, class)
		VPXORD(c, c, c)
		p.classes("class", at, func(score, slack, eta, theta GPVirtual) {
			all, errors, most, s, z := K(), ZMM(), ZMM(), ZMM(), ZMM()
			gather := func(from GPVirtual, to VecVirtual) {
				KXNORW(all, all, all)
				VGATHERDPS(Mem{Base: from, Index: scored, Scale: 4}, all, to)
			}
			gather(theta, errors)
			gather(eta, most)
			VADDPS_BCST(Mem{Base: slack}, errors, errors)
			VMULPS(nu, errors, errors)
			VFMADD231PS(rho, most, errors)
			VMOVUPS(Mem{Base: score}, s)
			VADDPS(errors, s, z)
			VSUBPS(errors, s, s)
			mine, other, nan := K(), K(), K()
			VCMPPS(Imm(3), z, z, nan)
			KORW(nan, bad, bad)
			VPCMPEQD(c, class, mine)
			KNOTW(mine, other)
			VMOVAPS(s, mine, low)
			VMOVAPS(z, mine, high)
			VMAXPS(rivalLow, s, other, rivalLow)
			VMAXPS(rivalHigh, z, other, rivalHigh)
			VPADDD(p.one, c, c)
		})
		above, inside, stays, leaves := K(), K(), K(), K()
		VCMPPS(Imm(30), rivalHigh, low, above) // low > rivalHigh
		VSUBPS(rivalHigh, low, low)
		VSUBPS(rivalLow, high, high)
		VCMPPS_BCST(Imm(29), address(Param("alpha")), low, stays)   // low >= alpha
		VCMPPS_BCST(Imm(17), address(Param("alpha")), high, leaves) // high < alpha
		VPTESTMD(Mem{Base: p.place}, p.one, inside)
		KANDW(inside, stays, stays)
		KANDNW(leaves, inside, leaves)
		KORW(stays, leaves, stays)
		KANDW(above, stays, stays)
		KANDNW(stays, bad, stays)
		KNOTW(stays, stays)
		mask := GP64()
		KMOVW(stays, mask.As32())
		return mask
	})
}

func boundAVX2() {
	avx2.bound(func(p *bounded, at int) GPVirtual {
		low, high, rivalLow, rivalHigh := p.best(avx2)
		scored, c, bad := YMM(), YMM(), YMM()
		VMOVDQU(Mem{Base: p.scored, Disp: at}, scored)
		VMOVD(Load(Param("now"), GP32()), bad.AsX())
		VPBROADCASTD(bad.AsX(), bad)
		VPCMPEQD(scored, bad, bad)
		VPXOR(c, c, c)
		label := map[int]string{0: "low", 4 * 8: "high"}[at]
		p.classes(label, at, func(score, slack, eta, theta GPVirtual) {
			all, errors, most, s, z := YMM(), YMM(), YMM(), YMM(), YMM()
			gather := func(from GPVirtual, to VecVirtual) {
				VPCMPEQD(all, all, all)
				VGATHERDPS(all, Mem{Base: from, Index: scored, Scale: 4}, to)
			}
			gather(theta, errors)
			gather(eta, most)
			VBROADCASTSS(Mem{Base: slack}, s)
			VADDPS(s, errors, errors)
			VMULPS(Mem{Base: p.nu, Disp: at}, errors, errors)
			VFMADD231PS(Mem{Base: p.rho, Disp: at}, most, errors)
			VMOVUPS(Mem{Base: score}, s)
			VADDPS(errors, s, z)
			VSUBPS(errors, s, s)
			mine, rival := all, most
			VCMPPS(Imm(3), z, z, mine)
			VORPS(mine, bad, bad)
			VMOVDQU(Mem{Base: p.place, Disp: at}, mine)
			VPSRAD(Imm(1), mine, mine)
			VPCMPEQD(c, mine, mine)
			VBLENDVPS(mine, s, low, low)
			VBLENDVPS(mine, z, high, high)
			VMAXPS(rivalLow, s, rival)
			VBLENDVPS(mine, rivalLow, rival, rivalLow)
			VMAXPS(rivalHigh, z, rival)
			VBLENDVPS(mine, rivalHigh, rival, rivalHigh)
			VPADDD(p.one, c, c)
		})
		above, alpha, inside := YMM(), YMM(), YMM()
		VCMPPS(Imm(30), rivalHigh, low, above) // low > rivalHigh
		VANDNPS(above, bad, bad)
		VSUBPS(rivalHigh, low, low)
		VSUBPS(rivalLow, high, high)
		broadcast("alpha", alpha)
		VCMPPS(Imm(29), alpha, low, low)   // low >= alpha
		VCMPPS(Imm(17), alpha, high, high) // high < alpha
		VMOVDQU(Mem{Base: p.place, Disp: at}, inside)
		VPSLLD(Imm(31), inside, inside)
		VBLENDVPS(inside, low, high, low)
		VANDPS(bad, low, low)
		mask := GP64()
		VMOVMSKPS(low, mask.As32())
		XORQ(Imm(0xff), mask)
		return mask
	})
}
