package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// estimate generates estimateAVX512 and estimateAVX2. Even and odd directions have
// sums of their own, since a sum is a chain of fma.
func estimate(level string, vector func() VecVirtual) {
	function("estimate"+level, "func(sketch []int8, depth int, coef []float32, lines []int, "+
		"scores []float32, step int)")
	sketch, size, coef, scores := base("sketch"), length("sketch"), base("coef"), base("scores")
	depth := value("depth")
	bytes := int(vector().Size())
	parts := 4 * lanes / bytes
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
			for range parts {
				v := vector()
				if parts == 1 {
					VPXORD(v, v, v)
				} else {
					VXORPS(v, v, v)
				}
				acc[i][c] = append(acc[i][c], v)
			}
		}
	}
	MOVQ(coef, t)
	MOVQ(depth, left)
	Label("directions")
	for i := range acc {
		for part := range parts {
			s := vector()
			VPMOVSXBD(Mem{Base: sketch, Disp: lanes*i + lanes/parts*part}, s)
			VCVTDQ2PS(s, s)
			for c := range acc[i] {
				at := Mem{Base: t, Disp: 8*i + 4*c}
				if parts == 1 {
					VFMADD231PS_BCST(at, s, acc[i][c][part])
				} else {
					v := vector()
					VBROADCASTSS(at, v)
					VFMADD231PS(v, s, acc[i][c][part])
				}
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
			VADDPS(Mem{Base: scores, Index: line[c], Scale: 4, Disp: bytes * part}, v, v)
		}
	}
	for c := range line {
		for part, v := range acc[0][c] {
			VMOVUPS(v, Mem{Base: scores, Index: line[c], Scale: 4, Disp: bytes * part})
		}
	}
	Load(Param("step"), t)
	LEAQ(Mem{Base: scores, Index: t, Scale: 4}, scores)
	MOVQ(depth, t)
	SHLQ(Imm(4), t)
	SUBQ(t, size)
	JMP(LabelRef("block"))
	end()
}

// bound generates the frame of a kernel that finds the examples whose place is open.
// half is as in region, with the rest of the parameters.
func bound(name string, lanesOfVector int, half func(p *bounded, at int) GPVirtual) {
	function(name, "func(scores []float32, q int, alpha float32, rho, nu, slack, eta, theta []float32, "+
		"scored []int32, now int32, place []int32, open []uint16)")
	p := &bounded{scores: base("scores"), q: value("q"), rho: base("rho"), nu: base("nu"), scored: base("scored"),
		place: base("place")}
	open, blocks := base("open"), length("open")
	vector := YMM
	if lanesOfVector == 16 {
		vector = ZMM
	}
	p.infinity, p.one = vector(), vector()
	bits := GP32()
	MOVL(U32(0xff800000), bits)
	VMOVD(bits, p.infinity.AsX())
	VBROADCASTSS(p.infinity.AsX(), p.infinity)
	MOVL(U32(1), bits)
	VMOVD(bits, p.one.AsX())
	VPBROADCASTD(p.one.AsX(), p.one)

	Label("block")
	TESTQ(blocks, blocks)
	JE(LabelRef("done"))
	all := GP64()
	for at := 0; at < 4*lanes; at += 4 * lanesOfVector {
		mask := half(p, at)
		if at == 0 {
			MOVQ(mask, all)
		} else {
			SHLQ(Imm(uint64(at/4)), mask)
			ORQ(mask, all)
		}
	}
	MOVW(all.As16(), Mem{Base: open})
	line := GP64()
	MOVQ(p.q, line)
	SHLQ(Imm(6), line)
	ADDQ(line, p.scores)
	for _, v := range []GPVirtual{p.rho, p.nu, p.scored, p.place} {
		ADDQ(Imm(4*lanes), v)
	}
	ADDQ(Imm(2), open)
	DECQ(blocks)
	JMP(LabelRef("block"))
	end()
}

// bounded is what the two kernels of bound share.
type bounded struct {
	scores, q, rho, nu, scored, place GPVirtual
	infinity, one                     VecVirtual
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
	ADDQ(Imm(4*lanes), score)
	for _, v := range []GPVirtual{slack, eta, theta} {
		ADDQ(Imm(4), v)
	}
	DECQ(left)
	JNE(LabelRef(label))
}

func bound512() {
	bound("boundAVX512", 16, func(p *bounded, at int) GPVirtual {
		low, high, rivalLow, rivalHigh := ZMM(), ZMM(), ZMM(), ZMM()
		for _, v := range []VecVirtual{low, high, rivalLow, rivalHigh} {
			VMOVAPS(p.infinity, v)
		}
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
	bound("boundAVX2", 8, func(p *bounded, at int) GPVirtual {
		low, high, rivalLow, rivalHigh := YMM(), YMM(), YMM(), YMM()
		for _, v := range []VecVirtual{low, high, rivalLow, rivalHigh} {
			VMOVAPS(p.infinity, v)
		}
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
		VBROADCASTSS(address(Param("alpha")), alpha)
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

// copyRow generates copyAVX2: it fetches the row that comes next while it copies one.
func copyRow() {
	function("copyAVX2", "func(dst, x, next []float32)")
	dst, x, n, next := base("dst"), base("x"), length("x"), base("next")
	Label("loop")
	CMPQ(n, Imm(16))
	JLT(LabelRef("tail"))
	PREFETCHT0(Mem{Base: next})
	low, high := YMM(), YMM()
	VMOVUPS(Mem{Base: x}, low)
	VMOVUPS(Mem{Base: x, Disp: 32}, high)
	VMOVUPS(low, Mem{Base: dst})
	VMOVUPS(high, Mem{Base: dst, Disp: 32})
	for _, v := range []GPVirtual{dst, x, next} {
		ADDQ(Imm(64), v)
	}
	SUBQ(Imm(16), n)
	JMP(LabelRef("loop"))
	Label("tail")
	scalar(n, func(i int) {
		v := XMM()
		VMOVSS(Mem{Base: x, Disp: 4 * i}, v)
		VMOVSS(v, Mem{Base: dst, Disp: 4 * i})
	}, step{x, 4}, step{dst, 4})
	VZEROUPPER()
	RET()
}
