package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// residuals generates a kernel of clause 16 for one kind of targets; examples are lanes.
// The loops over classes are short, so the processor overlaps them.
func residuals(l level, name string, given bool) {
	function(name+l.name, "func(scores []float32, q int, t, a, weight, losses []float32, refused []uint16)")
	findConstants()
	r := residual{
		level: l, q: value("q"), scores: base("scores"), t: base("t"), a: base("a"), weight: base("weight"),
		losses: base("losses"), at: GP64(), left: GP64(),
	}
	refused, blocks := base("refused"), length("refused")
	loop("block", blocks, 1, func() {
		for part := 0; part < 4*lanes; part += l.size {
			r.part = fmt.Sprint(part / l.size)
			bits := r.examples(part, given)
			if part > 0 {
				first := GP32()
				MOVWLZX(Mem{Base: refused}, first)
				SHLL(Imm(uint64(part/4)), bits)
				ORL(first, bits)
			}
			MOVW(bits.As16(), Mem{Base: refused})
		}
		nextBlock(r.q, []GPVirtual{r.scores, r.t, r.a}, r.weight, r.losses)
		add(2, refused)
	})
}

// spread generates a kernel that brings targets into the lanes of their examples.
func spread(l level) {
	function("spread"+l.name, "func(t []float32, q int, values []float32, rows []int64)")
	t, q, values, rows, n := base("t"), value("q"), base("values"), base("rows"), length("rows")
	at, left, to := GP64(), GP64(), GP64()
	loop("block", n, lanes, func() {
		for part := 0; part < 8*lanes; part += l.size { // of rows; half of it in targets
			name := fmt.Sprintf("class%d", part/l.size)
			from := l.vector()
			VMOVUPS(Mem{Base: rows, Disp: part}, from)
			LEAQ(Mem{Base: t, Disp: part / 2}, to)
			MOVQ(values, at)
			MOVQ(q, left)
			Label(name)
			m := Mem{Base: at, Index: from, Scale: 4}
			if l.size == 64 {
				all, v := K(), YMM()
				KXNORW(all, all, all)
				VGATHERQPS(m, all, v)
				VMOVUPS(v, Mem{Base: to})
			} else {
				all, v := XMM(), XMM()
				VPCMPEQD(all, all, all)
				VGATHERQPS(all, m, v)
				VMOVUPS(v, Mem{Base: to})
			}
			ADDQ(Imm(4), at)
			ADDQ(Imm(4*lanes), to)
			DECQ(left)
			JNE(LabelRef(name))
		}
		MOVQ(q, left)
		SHLQ(Imm(6), left)
		ADDQ(left, t)
		add(8*lanes, rows)
	})
}

type residual struct {
	level
	q, scores, t, a, weight, losses, at, left GPVirtual
	part                                      string
}

// classes generates a loop over the classes; do is given where values of a class lie
// relative to those of the first.
func (r *residual) classes(name string, do func(of func(p GPVirtual) Mem), offset int) {
	XORQ(r.at, r.at)
	MOVQ(r.q, r.left)
	Label(name + r.part)
	do(func(p GPVirtual) Mem { return Mem{Base: p, Index: r.at, Scale: 1, Disp: offset} })
	ADDQ(Imm(4*lanes), r.at)
	DECQ(r.left)
	JNE(LabelRef(name + r.part))
}

// softmax is the state of one softmax.
type softmax struct{ most, sum VecVirtual }

func (r *residual) softmax() softmax {
	s := softmax{r.vector(), r.vector()}
	fill(minusInf, s.most)
	clearVector(s.sum)
	return s
}

// examples generates what becomes of the examples of one vector, and returns which of them
// are refused.
func (r *residual) examples(offset int, given bool) GPVirtual {
	odd := r.vector() // NaN in the lanes of examples that are refused for their scores
	clearVector(odd)
	s := r.softmax()
	var posterior softmax
	if !given {
		posterior = r.softmax()
	}
	r.classes("largest", func(of func(GPVirtual) Mem) {
		score, v := r.vector(), r.vector()
		VMOVUPS(of(r.scores), score)
		VMAXPS(s.most, score, s.most)
		VSUBPS(score, score, v)
		VADDPS(v, odd, odd)
		if !given {
			VADDPS(of(r.t), score, v)
			VMAXPS(posterior.most, v, posterior.most)
		}
	}, offset)
	r.classes("exp", func(of func(GPVirtual) Mem) {
		score, d := r.vector(), r.vector()
		VMOVUPS(of(r.scores), score)
		VSUBPS(s.most, score, d)
		r.exp(d)
		VADDPS(d, s.sum, s.sum)
		VMOVUPS(d, of(r.a))
		if !given {
			d := r.vector()
			VADDPS(of(r.t), score, d)
			VSUBPS(posterior.most, d, d)
			r.exp(d)
			VADDPS(d, posterior.sum, posterior.sum)
			VMOVUPS(d, of(r.t))
		}
	}, offset)
	scale, loss := r.reciprocal(s.sum), r.log(s.sum)
	var scale2 VecVirtual
	if given {
		r.classes("loss", func(of func(GPVirtual) Mem) {
			d := r.vector()
			VMOVUPS(of(r.scores), d)
			VSUBPS(s.most, d, d)
			VFNMADD231PS(of(r.t), d, loss)
		}, offset)
	} else {
		difference := r.vector()
		VSUBPS(posterior.most, posterior.most, difference)
		VADDPS(difference, odd, odd)
		VSUBPS(posterior.most, s.most, difference)
		scale2 = r.reciprocal(posterior.sum)
		VSUBPS(r.log(posterior.sum), loss, loss)
		VADDPS(loss, difference, loss)
	}
	weight, absolute := r.vector(), r.vector()
	VMOVUPS(Mem{Base: r.weight, Disp: offset}, weight)
	VMULPS(weight, loss, loss)
	VANDPS(constant("size"), loss, absolute)
	counts := r.counts(odd, absolute)
	keep(counts, loss, loss)
	VMOVUPS(loss, Mem{Base: r.losses, Disp: offset})
	r.classes("residual", func(of func(GPVirtual) Mem) {
		v := r.vector()
		VMULPS(of(r.a), scale, v)
		if given {
			VSUBPS(of(r.t), v, v)
		} else {
			v2 := r.vector()
			VMULPS(of(r.t), scale2, v2)
			VSUBPS(v2, v, v)
		}
		VMULPS(weight, v, v)
		keep(counts, v, v)
		VMOVUPS(v, of(r.a))
	}, offset)
	return refused(counts)
}

// counts finds the lanes in which odd is not NaN and the size of the loss allowed.
func (r *residual) counts(odd, size VecVirtual) Op {
	const ordered, lessOrEqual = 7, 18
	all := r.mask()
	if r.size == 64 {
		some := K()
		VCMPPS(Imm(ordered), odd, odd, some)
		VCMPPS(Imm(lessOrEqual), constant("most"), size, some, all)
		return all
	}
	VCMPPS(Imm(ordered), odd, odd, all)
	VCMPPS(Imm(lessOrEqual), constant("most"), size, size)
	VANDPS(size, all, all)
	return all
}

// refused returns the bits of the lanes that do not count.
func refused(counts Op) GPVirtual {
	bits := GP32()
	if counts.(Register).Kind() == KindOpmask {
		KMOVW(counts, bits)
		XORL(U32(0xffff), bits)
	} else {
		VMOVMSKPS(counts, bits)
		XORL(U32(0xff), bits)
	}
	return bits
}

// exp generates clause 11 for arguments ≤ 0, in place; of NaN it makes 0.
func (r *residual) exp(x VecVirtual) {
	p := r.normalExp(x)
	normal := r.mask()
	VCMPPS(Imm(29), constant("least"), x, normal)
	keep(normal, p, x)
}

// log generates the logarithm of clause 15.
func (r *residual) log(x VecVirtual) VecVirtual {
	u, k, f, p := r.vector(), r.vector(), r.vector(), r.vector()
	VMOVAPS(x, u)
	VPSUBD(constant("root"), u, u)
	VPSRAD(Imm(23), u, k)
	VCVTDQ2PS(k, k)
	VANDPS(constant("fraction"), u, f)
	VPADDD(constant("root"), f, f)
	VSUBPS(constant("one"), f, f)
	VMOVUPS(constant("l8"), p)
	for _, c := range []string{"l7", "l6", "l5", "l4", "l3", "l2", "l1", "l0"} {
		VFMADD213PS(constant(c), f, p)
	}
	VMULPS(constant("lower"), k, u)
	square := r.vector()
	VMULPS(f, f, square)
	VFMADD213PS(u, square, p)
	VADDPS(p, f, f)
	VFMADD231PS(constant("upper"), k, f)
	return f
}

// reciprocal generates 1/x of clause 15.
func (r *residual) reciprocal(x VecVirtual) VecVirtual {
	y, e := r.vector(), r.vector()
	VMOVUPS(constant("reciprocal"), y)
	VPSUBD(x, y, y)
	for range 4 {
		VMOVUPS(constant("one"), e)
		VFNMADD231PS(y, x, e)
		VFMADD213PS(y, e, y)
	}
	return y
}
