package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// rows addresses the 16 rows of a block: row l + 4·i lies at
// first[l] + {0, 4s, 8s, 12s}[i], where s is the length of a row in bytes.
type rows struct {
	first [4]GPVirtual
	s, s3 GPVirtual
}

func (r rows) at(row int) Mem {
	m := Mem{Base: r.first[row%4]}
	switch row / 4 {
	case 1:
		return m.Idx(r.s, 4)
	case 2:
		return m.Idx(r.s, 8)
	case 3:
		return m.Idx(r.s3, 4)
	}
	return m
}

func (r rows) advance(by Op) {
	for _, p := range r.first {
		ADDQ(by, p)
	}
}

// arithmetic is what the dense kernels of the two instruction sets do differently.
type arithmetic struct {
	setup func()                      // once
	zero  func()                      // clears the accumulators
	group func(r rows, w GPVirtual)   // multiplies four columns of all rows; their weights lie at w
	add   func(c int, line GPVirtual) // adds a line of scores to the accumulators of class c
	store func(c int, line GPVirtual) // stores them there
}

// dense generates a kernel for n classes.
//
// An example is owned by a lane, so four columns of 16 rows have to be
// transposed: the rows l, l+4, l+8, l+12 are brought into the four 128-bit parts
// of a vector from memory, which costs no shuffle, and the parts are transposed
// all at once by two rounds of unpacking.
//
// Rows of a block follow each other in memory, but the loop reads 16 of them at
// once, which is more than processors foresee. So the loop fetches ahead in the
// order of memory, as many bytes as it uses.
func dense(name string, n int, a arithmetic) {
	function(name, "func(x []float32, d, blocks int, w []float32, lines []int, scores []float32, step, ahead int)")
	var r rows
	r.first[0] = base("x")
	r.s, r.s3 = value("d"), GP64()
	SHLQ(Imm(2), r.s)
	LEAQ(Mem{Base: r.s, Index: r.s, Scale: 2}, r.s3)
	for l := 1; l < 4; l++ {
		r.first[l] = GP64()
		LEAQ(Mem{Base: r.first[l-1], Index: r.s, Scale: 1}, r.first[l])
	}
	scores := base("scores")
	a.setup()
	blocks := address(Param("blocks"))
	w, left, now, back, ahead, t := GP64(), GP64(), GP64(), GP64(), GP64(), GP64()

	Label("block")
	CMPQ(blocks, Imm(0))
	JE(LabelRef("done"))
	Load(Param("w").Base(), w)
	comment("Groups of four columns; the last one ends with the row and so may begin back bytes too early, where w is 0.")
	MOVQ(r.s, back)
	NEGQ(back)
	ANDQ(Imm(15), back)
	LEAQ(Mem{Base: r.s, Index: back, Scale: 1}, left)
	SHRQ(Imm(4), left)
	Load(Param("ahead"), ahead)
	ADDQ(r.first[0], ahead)
	for c := range n {
		line(t, scores, c)
		clearLine(t)
	}

	Label("chunk")
	a.zero()
	MOVQ(U32(chunk/4), now)
	CMPQ(left, now)
	CMOVQLT(left, now)
	SUBQ(now, left)
	JNE(LabelRef("groups"))
	comment("The last chunk: its last group apart, if it begins too early.")
	TESTQ(back, back)
	JE(LabelRef("groups"))
	DECQ(now)
	JE(LabelRef("last"))

	Label("groups")
	for i := range 4 {
		PREFETCHT1(Mem{Base: ahead, Disp: 64 * i})
	}
	a.group(r, w)
	r.advance(Imm(16))
	ADDQ(U32(256), ahead)
	ADDQ(U32(uint32(16*n)), w)
	DECQ(now)
	JNE(LabelRef("groups"))

	TESTQ(left, left)
	JNE(LabelRef("flush"))
	TESTQ(back, back)
	JE(LabelRef("flush"))
	Label("last")
	NEGQ(back)
	r.advance(back)
	XORQ(back, back)
	MOVQ(U32(1), now)
	JMP(LabelRef("groups"))

	comment("All are added before any is stored, because a class may be there twice.")
	Label("flush")
	for c := range n {
		line(t, scores, c)
		a.add(c, t)
	}
	for c := range n {
		line(t, scores, c)
		a.store(c, t)
	}
	TESTQ(left, left)
	JNE(LabelRef("chunk"))

	comment("The pointers stand at the next row; 15 more.")
	LEAQ(Mem{Base: r.s3, Index: r.s3, Scale: 4}, t)
	r.advance(t)
	Load(Param("step"), t)
	LEAQ(Mem{Base: scores, Index: t, Scale: 4}, scores)
	DECQ(blocks)
	JMP(LabelRef("block"))

	end()
}

// line sets t to the line of scores of class c in the current block.
func line(t, scores GPVirtual, c int) {
	Load(Param("lines").Base(), t)
	MOVQ(Mem{Base: t, Disp: 8 * c}, t)
	LEAQ(Mem{Base: scores, Index: t, Scale: 4}, t)
}

// clearLine zeroes the line at t.
func clearLine(t GPVirtual) {
	z := YMM()
	VXORPS(z, z, z)
	VMOVUPS(z, Mem{Base: t})
	VMOVUPS(z, Mem{Base: t, Disp: 32})
}

func dense512(n int) {
	acc := make([]VecVirtual, n)
	for c := range acc {
		acc[c] = ZMM()
	}
	var part [4]OpmaskVirtual // of the 128-bit parts of a vector
	setup := func() {
		for i := 1; i < 4; i++ {
			bits := GP32()
			part[i] = K()
			MOVL(U32(0xf<<(4*i)), bits)
			KMOVW(bits, part[i])
		}
	}
	zero := func() {
		for _, a := range acc {
			VPXORD(a, a, a)
		}
	}
	group := func(r rows, w GPVirtual) {
		var v, u [4]VecVirtual
		for l := range 4 {
			v[l] = ZMM()
			VBROADCASTF32X4(r.at(l), v[l])
			for i := 1; i < 4; i++ {
				VBROADCASTF32X4(r.at(l+4*i), part[i], v[l])
			}
		}
		for i := range 2 {
			u[2*i], u[2*i+1] = ZMM(), ZMM()
			VUNPCKLPS(v[2*i+1], v[2*i], u[2*i])
			VUNPCKHPS(v[2*i+1], v[2*i], u[2*i+1])
		}
		for j := range 4 {
			column := ZMM()
			if j%2 == 0 {
				VUNPCKLPD(u[2+j/2], u[j/2], column)
			} else {
				VUNPCKHPD(u[2+j/2], u[j/2], column)
			}
			for c := range n {
				VFMADD231PS_BCST(Mem{Base: w, Disp: 4 * (j*n + c)}, column, acc[c])
			}
		}
	}
	add := func(c int, line GPVirtual) { VADDPS(Mem{Base: line}, acc[c], acc[c]) }
	store := func(c int, line GPVirtual) { VMOVUPS(acc[c], Mem{Base: line}) }
	dense(fmt.Sprintf("dense%dAVX512", n), n, arithmetic{setup, zero, group, add, store})
}

func denseAVX2(n int) {
	acc := make([][2]VecVirtual, n) // rows 0..7 and 8..15
	for c := range acc {
		acc[c] = [2]VecVirtual{YMM(), YMM()}
	}
	zero := func() {
		for _, a := range acc {
			VXORPS(a[0], a[0], a[0])
			VXORPS(a[1], a[1], a[1])
		}
	}
	group := func(r rows, w GPVirtual) {
		for half := range 2 {
			var u [4]VecVirtual
			for i := range 2 {
				var v [2]VecVirtual
				for l := range 2 {
					v[l] = YMM()
					VBROADCASTF128(r.at(8*half+2*i+l), v[l])
					VINSERTF128(Imm(1), r.at(8*half+2*i+l+4), v[l], v[l])
				}
				u[2*i], u[2*i+1] = YMM(), YMM()
				VUNPCKLPS(v[1], v[0], u[2*i])
				VUNPCKHPS(v[1], v[0], u[2*i+1])
			}
			for j := range 4 {
				column := YMM()
				if j%2 == 0 {
					VUNPCKLPD(u[2+j/2], u[j/2], column)
				} else {
					VUNPCKHPD(u[2+j/2], u[j/2], column)
				}
				for c := range n {
					weight := YMM()
					VBROADCASTSS(Mem{Base: w, Disp: 4 * (j*n + c)}, weight)
					VFMADD231PS(weight, column, acc[c][half])
				}
			}
		}
	}
	add := func(c int, line GPVirtual) {
		for half, a := range acc[c] {
			VADDPS(Mem{Base: line, Disp: 32 * half}, a, a)
		}
	}
	store := func(c int, line GPVirtual) {
		for half, a := range acc[c] {
			VMOVUPS(a, Mem{Base: line, Disp: 32 * half})
		}
	}
	dense(fmt.Sprintf("dense%dAVX2", n), n, arithmetic{func() {}, zero, group, add, store})
}
